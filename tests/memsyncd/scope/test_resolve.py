"""From a working directory to its scope."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsyncd.platforms.wildcards import is_wildcard
from memsyncd.redaction import REPLACEMENT
from memsyncd.scope.remote import project_id
from memsyncd.scope.resolve import CACHE_SIZE, ScopeResolver
from memsyncd.scope.user import user_id

Git = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Git:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def run(cwd: Path, *arguments: str) -> str:
        command = [
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
            *arguments,
        ]
        done = subprocess.run(command, cwd=cwd, env=environ, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout.strip()

    return run


@pytest.fixture
def tree(tmp_path: Path, run: Git) -> Path:
    place = Path(os.path.realpath(tmp_path)) / "work" / "tree"
    place.mkdir(parents=True)
    run(place, "init", "-q")
    run(place, "commit", "-q", "--allow-empty", "-m", "one")
    return place


@pytest.fixture
def resolver(tmp_path: Path) -> ScopeResolver:
    return ScopeResolver(tmp_path / "home", {})


def test_working_trees_are_one_project_with_a_remote_and_without(tree: Path, run: Git, resolver: ScopeResolver) -> None:
    """Each has its own branch, root and head; the identity is shared (never-again 159, 160)."""
    side = tree.parent / "side"
    run(tree, "worktree", "add", "-q", "-b", "feature/x", str(side))
    one, other = resolver.resolve(str(tree)), resolver.resolve(str(side))
    assert one.repo_id == other.repo_id == f"local:{tree}"
    assert one.app_id == other.app_id == "tree"
    assert one.project_id == other.project_id
    assert one.project_id.startswith("local-tree-")
    assert (one.root, one.branch, other.root, other.branch) == (str(tree), "main", str(side), "feature/x")
    run(tree, "remote", "add", "origin", "git@git.example.org:team/tool.git")
    one, other = resolver.resolve(str(tree)), resolver.resolve(str(side))
    assert one.repo_id == other.repo_id == "https://git.example.org/team/tool"
    assert one.app_id == "team-tool"
    assert one.project_id == other.project_id != "team-tool"
    assert one.head_sha == run(tree, "rev-parse", "HEAD")


def test_a_repository_cloned_in_two_ways_is_one(tree: Path, run: Git, resolver: ScopeResolver) -> None:
    """The clone's address decides, in whichever form."""
    run(tree, "remote", "add", "origin", "ssh://git@git.example.org:2222/team/tool.git")
    run(tree.parent, "init", "-q", "other")
    run(tree.parent / "other", "remote", "add", "origin", "https://tok@git.example.org/team/tool/")
    assert resolver.resolve(str(tree)).project_id == resolver.resolve(str(tree.parent / "other")).project_id


def test_a_clone_of_a_path_is_local(tree: Path, run: Git, resolver: ScopeResolver) -> None:
    """A remote that is a path names no repository that others share."""
    run(tree.parent, "clone", "-q", str(tree), "clone")
    assert resolver.resolve(str(tree.parent / "clone")).repo_id == f"local:{tree.parent / 'clone'}"


def test_the_directory_is_relative_and_seen_through_symlinks(tree: Path, resolver: ScopeResolver) -> None:
    """Facts 5.19 and 5.20."""
    nested = tree / "services" / "billing"
    nested.mkdir(parents=True)
    link = tree.parent / "link"
    link.symlink_to(tree)
    scope = resolver.resolve(str(link / "services" / "billing"))
    assert (scope.root, scope.directory) == (str(tree), "services/billing")
    assert resolver.resolve(str(link)).directory == ""
    assert resolver.resolve(str(tree / "..odd")).directory == "..odd"


def test_a_folder_without_git_is_known_by_its_real_path(tree: Path, resolver: ScopeResolver) -> None:
    """Same-named folders stay apart; branch is `detached` and head empty (facts 5.23)."""
    one, other = tree.parent / "a" / "docs", tree.parent / "b" / "docs"
    one.mkdir(parents=True)
    other.mkdir(parents=True)
    scope = resolver.resolve(str(one))
    assert (scope.repo_id, scope.app_id, scope.root, scope.directory) == (f"local:{one}", "docs", str(one), "")
    assert (scope.branch, scope.head_sha) == ("detached", "")
    assert scope.project_id != resolver.resolve(str(other)).project_id


def test_a_missing_directory_still_has_a_scope(tree: Path, resolver: ScopeResolver) -> None:
    """A deleted folder of a repository belongs to it; any other is known by its text; no text is a scope too."""
    assert resolver.resolve(str(tree / "gone" / "deep")).root == str(tree)
    assert resolver.resolve(str(tree.parent / "gone")).repo_id == f"local:{tree.parent / 'gone'}"
    for text in ("", "relative/path", "C:\\Users\\bob", "/x\0y", "/x\ud800"):
        scope = resolver.resolve(text)
        assert scope.repo_id == f"local:{text}"
        assert scope.app_id
        assert scope.project_id.startswith("local-")


@pytest.mark.parametrize(
    ("value", "app_id"), [("mine", "mine"), (" mine ", "mine"), ("*", "tree"), (" ** ", "tree"), ("", "tree")]
)
def test_the_environments_project_id_counts_unless_it_is_a_wildcard(tree: Path, value: str, app_id: str) -> None:
    """Facts 5.10, 5.12."""
    assert ScopeResolver(tree.parent, {"MEM0_PROJECT_ID": value}).resolve(str(tree)).app_id == app_id


def test_a_change_is_seen_at_once(tree: Path, run: Git, tmp_path: Path) -> None:
    """Commit, branch, packing, remote, the user's settings, a repository made or removed: none is missed by the cache."""
    home = tmp_path / "home"
    home.mkdir()
    resolver = ScopeResolver(home, {})
    nested = tree / "nested"
    nested.mkdir()

    def seen() -> tuple[str, str, str]:
        scope = resolver.resolve(str(nested))
        assert scope is resolver.resolve(str(nested))  # the second look comes from memory
        return scope.branch, scope.head_sha, scope.repo_id

    def head() -> str:
        return run(tree, "rev-parse", "HEAD")

    assert seen() == ("main", head(), f"local:{tree}")
    run(tree, "commit", "-q", "--allow-empty", "-m", "two")
    assert seen()[1] == head()
    run(tree, "switch", "-q", "-c", "other")
    assert seen()[0] == "other"
    run(tree, "commit", "-q", "--allow-empty", "-m", "three")
    assert seen()[1] == head()
    run(tree, "pack-refs", "--all")
    assert seen()[1] == head()
    run(tree, "reset", "-q", "--hard", "HEAD~1")
    assert seen()[1] == head()
    run(tree, "remote", "add", "origin", "x:team/tool")
    assert seen()[2] == "https://x/team/tool"
    (home / ".gitconfig").write_text('[url "https://y.example/"]\n\tinsteadOf = x:\n')
    assert seen()[2] == "https://y.example/team/tool"
    run(nested, "init", "-q")
    assert seen() == ("main", "", f"local:{nested}")
    (nested / ".git").rename(tree / "aside")
    assert seen()[2] == "https://y.example/team/tool"


def test_the_cache_is_bounded(tmp_path: Path, resolver: ScopeResolver) -> None:
    """Many directories push the oldest out."""
    for number in range(CACHE_SIZE + 20):
        resolver.resolve(f"/nowhere-{tmp_path.name}/{number}")
    assert len(resolver._known) == CACHE_SIZE
    assert f"/nowhere-{tmp_path.name}/0" not in resolver._known


@given(cwd=st.text(max_size=30))
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_no_text_makes_it_raise(resolver: ScopeResolver, cwd: str) -> None:
    """Whatever a hook sends as its directory has a scope."""
    for text in (cwd, f"/{cwd}"):
        scope = resolver.resolve(text)
        assert scope.repo_id
        assert scope.project_id


@pytest.mark.parametrize(
    ("text", "expected"), [("*", True), (" ** ", True), ("", False), (" ", False), ("a*", False), ("ada", False)]
)
def test_only_asterisks_are_a_wildcard(text: str, expected: bool) -> None:
    """Facts 5.17: empty is unset, which is another matter."""
    assert is_wildcard(text) is expected


def test_the_user_comes_from_the_first_that_says_one() -> None:
    """Facts 5.18, then the system's account, then `default`; a wildcard is nobody."""
    names = ["MEM0_CODE_USER_ID", "MEM0_USER_ID", "MEM0_RESOLVED_USER_ID", "USER", "USERNAME"]
    for index, name in enumerate(names):
        environ = {other: other for other in names[index:]}
        assert user_id(environ) == name
    assert user_id({"USER": "bob"}, "ada") == "ada"
    assert user_id({"MEM0_CODE_USER_ID": "*", "USER": "ada"}) == "ada"
    assert user_id({"USER": " "}, " ** ") == "default"
    assert user_id({}, account=lambda: "carol") == "carol"
    assert user_id({"USER": "ada"}, account=lambda: "carol") == "ada"
    assert user_id({}, account=lambda: "*") == "default"


@pytest.mark.parametrize("error", [OSError(), KeyError("uid")])
def test_an_account_that_cannot_be_looked_up_is_no_answer(error: Exception) -> None:
    """A container's user may have no entry."""

    def account() -> str:
        raise error

    assert user_id({}, account=account) == "default"


SECRET = "Branch" + "Tide991"


def test_a_secret_in_a_branch_or_a_folder_is_not_shown(tree: Path, run: Git, resolver: ScopeResolver) -> None:
    """Names are redacted part by part, the identity and what is found by it stay."""
    before = resolver.resolve(str(tree))
    run(tree, "checkout", "-q", "-b", f"feature/password={SECRET}/more")
    place = tree / "a" / f"token={SECRET}" / "b"
    place.mkdir(parents=True)
    after = resolver.resolve(str(place))
    assert after.branch == f"feature/password={REPLACEMENT}/more"
    assert after.directory == f"a/token={REPLACEMENT}/b"
    assert (after.repo_id, after.app_id, after.project_id) == (before.repo_id, before.app_id, before.project_id)


def test_a_secret_in_a_projects_name_becomes_its_hash(tmp_path: Path, resolver: ScopeResolver) -> None:
    """The short name has no secret, stays the same each time, and two such projects stay two."""
    one, other = (resolver.resolve(str(tmp_path / f"password={SECRET}{number}")) for number in (1, 2))
    for scope in (one, other):
        assert SECRET not in scope.app_id + scope.project_id + scope.branch + scope.directory
        assert scope.app_id.startswith("redacted-")
        assert scope.project_id == project_id(scope.app_id, scope.repo_id)
        assert ScopeResolver(tmp_path, {}).resolve(scope.root) == scope
    assert one.app_id != other.app_id
    assert SECRET not in resolver.resolve(f"relative/password={SECRET}").app_id
