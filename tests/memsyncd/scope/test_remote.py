"""One identity per repository, and the names made from it."""

import hashlib
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memsyncd.scope.remote import app_name, is_local, normalise_remote, project_id

ONE = "https://git.example.org/Team/Tool"

SAME = [
    "git@git.example.org:Team/Tool.git",
    "git@Git.Example.ORG:Team/Tool.git",
    "deploy@git.example.org:Team/Tool.git",
    "git.example.org:Team/Tool",
    "git@git.example.org:/Team/Tool.git",
    "[git@git.example.org:2222]:Team/Tool.git",
    "ssh://git@git.example.org/Team/Tool.git",
    "ssh://git@git.example.org:22/Team/Tool.git",
    "ssh://git@git.example.org:2222/Team/Tool.git",
    "ssh://git@git.example.org:Team/Tool",
    "git+ssh://git@git.example.org/Team/Tool",
    "git://git.example.org/Team/Tool.git",
    "git://git.example.org:9418/Team/Tool.git",
    "http://git.example.org/Team/Tool.git",
    "http://git.example.org:80/Team/Tool.git",
    "https://git.example.org/Team/Tool",
    "https://git.example.org/Team/Tool.git",
    "https://git.example.org/Team/Tool.git/",
    "https://git.example.org/Team/Tool///",
    "https://git.example.org//Team//Tool.git",
    "https://git.example.org/./Team/Tool/.git",
    "https://git.example.org:443/Team/Tool.git",
    "https://git.example.org./Team/Tool.git",
    "HTTPS://git.example.org/Team/Tool.git",
    "https://tok@git.example.org/Team/Tool.git",
    "https://bob:pw@git.example.org/Team/Tool.git",
    "https://bob:p@w@git.example.org/Team/Tool.git",
    "https://bob:p/w@git.example.org/Team/Tool.git",
    "https://bob:p?w#x@git.example.org/Team/Tool.git",
    "https://git.example.org/Team/Tool.git?access_token=abc",
    "https://git.example.org/Team/Tool#readme",
    "https://git.example.org/Team/Tool?x=https://a@b/c",
    "  https://git.example.org/Team/Tool.git\n",
]


@pytest.mark.parametrize("url", SAME)
def test_every_way_of_cloning_gives_one_identity(url: str) -> None:
    """Scheme, user, ssh port, suffix and slashes say nothing about which repository it is."""
    assert normalise_remote(url) == ONE


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://git.example.org:8443/team/tool.git/", "https://git.example.org:8443/team/tool"),
        ("https://git.example.org:08443/team/tool", "https://git.example.org:8443/team/tool"),
        ("https://git.example.org:99999/team/tool", "https://git.example.org/team/tool"),
        ("https://[::1]:8080/team/tool.git", "https://[::1]:8080/team/tool"),
        ("ssh://git@[2001:DB8::1]:22/team/tool.git", "https://[2001:db8::1]/team/tool"),
        ("git@[::1]:team/tool.git", "https://[::1]/team/tool"),
        ("https://git.example.org/a/b/c", "https://git.example.org/a/b/c"),
        ("https://git.example.org/~bob/tool", "https://git.example.org/~bob/tool"),
        ("git@git.example.org:~bob/tool", "https://git.example.org/~bob/tool"),
        ("https://git.example.org/team/tool.git.git", "https://git.example.org/team/tool"),
        ("git@git.example.org:solo.git", "https://git.example.org/solo"),
        ("bob:pw@git.example.org:team/tool", "https://git.example.org/team/tool"),
        ("git@ssh.dev.azure.com:v3/org/project/repo", "https://dev.azure.com/org/project/_git/repo"),
        ("https://bob@dev.azure.com/org/project/_git/repo", "https://dev.azure.com/org/project/_git/repo"),
        ("https://git.example.org/scm/team/tool.git", "https://git.example.org/team/tool"),
        ("ssh://git@ssh.github.com:443/team/tool.git", "https://github.com/team/tool"),
        ("https://git.example.org", "https://git.example.org"),
        ("ssh://git@git.example.org:team/tool", "https://git.example.org/team/tool"),
        ("file:///srv/git/tool.git", ""),
        ("/srv/git/tool.git", ""),
        ("../tool.git", ""),
        ("./a:b/c", ""),
        ("tool", ""),
        ("C:\\git\\tool", ""),
        ("C:/git/tool", ""),
        ("", ""),
        ("https://", ""),
        ("@:", ""),
        (":path", ""),
        ("[", ""),
    ],
)
def test_the_rest_of_the_table(url: str, identity: str) -> None:
    """Ports of http(s), IPv6, nested groups, known sites' two forms, and paths, which are local."""
    assert normalise_remote(url) == identity


URLISH = st.text(alphabet=st.sampled_from("aB9.:/@?#[]~-_ \\%=&\u0130\u03a3é\0\n"), max_size=40)


@given(url=st.one_of(st.text(max_size=60), URLISH, URLISH.map("https://{}".format), URLISH.map("a@h:{}".format)))
@example(url="https://[::1")
@example(url="http://h:443/x")
@example(url="a@b:c@d")
def test_normalising_never_raises_and_is_idempotent(url: str) -> None:
    """An identity is its own identity."""
    once = normalise_remote(url)
    assert normalise_remote(once) == once
    app_name(once)


@given(
    user=st.text(alphabet="abcXYZ019._~%-", max_size=12).map("qq{}qq".format),
    password=st.none() | st.text(alphabet="abcXYZ019._~%-!$&'()*+,;=:@/?#", max_size=20).map("zz{}zz".format),
    scheme=st.sampled_from(["https://", "http://", "ssh://", "git://", "ftp://", ""]),
    end=st.sampled_from(["", "/", ".git", "?token=zz#qq"]),
)
def test_no_part_of_the_user_stays(user: str, password: str | None, scheme: str, end: str) -> None:
    """Neither the identity nor the name made from it has any of user, password, query or fragment."""
    if password is not None and (not scheme or "@" in password):
        password = re.sub(r"[/?#]", "", password)  # git itself would see a path here
    userinfo = user if password is None else f"{user}:{password}"
    identity = normalise_remote(f"{scheme}{userinfo}@host.example{'/' if scheme else ':'}team/tool{end}")
    for text in (identity, app_name(identity)):
        assert "@" not in text
        assert "qq" not in text
        assert "zz" not in text
    assert identity.startswith("https://host.example/")


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        (ONE, "Team-Tool"),
        ("https://h.example/a/b/c", "b-c"),
        ("https://h.example/solo", "h.example-solo"),
        ("https://h.example:8443/solo", "h.example-solo"),
        ("https://tok@h.example/solo", "h.example-solo"),
        ("local:/home/bob/work", "work"),
        ("local:/", "unknown"),
        ("local:", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_short_name_is_owner_and_name(identity: str, name: str) -> None:
    """Facts 5.10 and 5.13, without the user part leaking into it."""
    assert app_name(identity) == name


def test_project_ids_keep_equal_names_apart() -> None:
    """Facts 5.14 and 5.15: the same owner and name on two hosts, the same folder name in two places."""
    digest = hashlib.sha256(ONE.encode()).hexdigest()[:10]
    assert project_id("Team-Tool", ONE) == f"Team-Tool-{digest}"
    assert project_id("Team-Tool", ONE) != project_id("Team-Tool", ONE.replace("org", "net"))
    digest = hashlib.sha256(b"/home/bob/work").hexdigest()[:10]
    assert project_id("work", "local:/home/bob/work") == f"local-work-{digest}"
    assert is_local("local:/x")
    assert not is_local(ONE)
