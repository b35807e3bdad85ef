"""A project's name from its remote."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.lifecycle.project import project_from_remote

SECRET = "ghp_" + "Zq7" * 12


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@host-work:team/tool.git", "team-tool"),
        ("https://host/team/tool/", "team-tool"),
        ("not-a-remote", None),
        ("", None),
        ("https://host", None),
        ("/srv/git/tool.git", None),
        ("file:///srv/team/tool.git", None),
    ],
)
def test_owner_and_name_or_nothing(url: str, name: str | None) -> None:
    """Facts 18.25."""
    assert project_from_remote(url) == name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://host/team/tool.git/", "team-tool"),
        ("https://host/a/b/c", "b-c"),
        ("ssh://git@h:22/team/tool", "team-tool"),
        ("ssh://git@h:22/tool", "h-tool"),
        ("https://h/solo", "h-solo"),
        ("git@h:solo.git", "h-solo"),
        ("https://host/team/tool//", "team-tool"),
        ("team/tool", None),
        ("./team/tool", None),
        ("https://host/team/tool?access_token=abc#x", "team-tool"),
        ("https://tok@h/solo", "h-solo"),
        ("https://u:pw@h/solo", "h-solo"),
        ("ssh://git@host:team/tool", "team-tool"),
        ("https://[::1]:8080/team/tool.git", "team-tool"),
        ("deploy@h:team/tool.git", "team-tool"),
    ],
)
def test_what_was_lost_or_leaked_is_right(url: str, name: str | None) -> None:
    """Facts 5.3 to 5.8, 5.13 and 18.26 (d): no port, token, query or password in a name, and no remote passed over."""
    assert project_from_remote(url) == name


def test_a_secret_in_the_path_is_a_hash() -> None:
    """Two such projects still differ, and the daemon names them alike."""
    name = project_from_remote(f"https://host/team/{SECRET}")
    assert name
    assert name.startswith("redacted-")
    assert name != project_from_remote(f"https://host/team/{SECRET}x")


@given(
    url=st.text(max_size=50)
    | st.text(alphabet=st.sampled_from("a.:/@?#[]~-\\ "), max_size=30).map("https://zz:qq@{}".format)
)
@settings(deadline=None)
def test_no_text_raises_and_no_user_stays(url: str) -> None:
    """Whatever stands where a remote should."""
    name = project_from_remote(url)
    if name is not None and url.startswith("https://zz:qq@"):
        assert name
        assert "zz" not in name
        assert "qq" not in name
