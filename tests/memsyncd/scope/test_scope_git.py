"""What is read from git's files is what git itself says, in real repositories."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memsyncd.scope import config, git
from memsyncd.scope.files import Files

Git = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    return place


@pytest.fixture
def run(home: Path) -> Git:
    """Run git with a home of its own and nobody's settings."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }

    def run(cwd: Path, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments],
            cwd=cwd, env=environ, check=True, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return done.stdout.strip()

    return run


@pytest.fixture
def tree(tmp_path: Path, run: Git) -> Path:
    """Make a repository with one commit."""
    place = tmp_path / "tree"
    place.mkdir()
    run(place, "init", "-q")
    run(place, "commit", "-q", "--allow-empty", "-m", "one")
    return place


def found(place: Path) -> git.Repository:
    repository = git.find(os.path.realpath(place), Files())
    assert repository is not None
    return repository


def url(place: Path, home: Path) -> str:
    repository = found(place)
    entries = git.settings(repository, Files(), home=str(home), environ={})
    return config.remote_url(entries, git.head(repository, Files()).branch)


def assert_agrees(place: Path, run: Git) -> git.Repository:
    """Compare everything with git's own word."""
    repository = found(place)
    assert repository.top == os.path.realpath(run(place, "rev-parse", "--show-toplevel"))
    assert repository.git_dir == os.path.realpath(run(place, "rev-parse", "--absolute-git-dir"))
    common = run(place, "rev-parse", "--git-common-dir")
    assert repository.common_dir == os.path.realpath(place / common)
    head = git.head(repository, Files())
    assert head.sha == run(place, "rev-parse", "HEAD")
    assert head.branch == run(place, "branch", "--show-current")
    return repository


def test_a_tree_is_read_as_git_reads_it(tree: Path, run: Git) -> None:
    """From the top, from below, on branches with slashes, detached, packed."""
    assert_agrees(tree, run)
    nested = tree / "a" / "b"
    nested.mkdir(parents=True)
    assert_agrees(nested, run)
    run(tree, "switch", "-q", "-c", "feature/one")
    run(tree, "commit", "-q", "--allow-empty", "-m", "two")
    assert_agrees(tree, run)
    run(tree, "pack-refs", "--all")
    assert not (tree / ".git/refs/heads/feature/one").exists()
    assert_agrees(tree, run)
    run(tree, "commit", "-q", "--allow-empty", "-m", "three")
    assert_agrees(tree, run)
    run(tree, "checkout", "-q", "--detach", "HEAD~1")
    assert_agrees(tree, run)


def test_a_symbolic_branch_is_followed(tree: Path, run: Git) -> None:
    """A ref that names another has the other's commit."""
    run(tree, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    run(tree, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert git.head(found(tree), Files()) == git.Head("alias", run(tree, "rev-parse", "HEAD"))


def test_an_unborn_branch_has_a_name_and_no_commit(tmp_path: Path, run: Git) -> None:
    """Before the first commit."""
    run(tmp_path, "init", "-q", "new")
    assert git.head(found(tmp_path / "new"), Files()) == git.Head("main", "")


def test_all_working_trees_share_a_main_one(tree: Path, tmp_path: Path, run: Git) -> None:
    """Linked working trees have their own branch and the main one's settings."""
    run(tree, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    run(tmp_path / "side", "commit", "-q", "--allow-empty", "-m", "two")
    repository = assert_agrees(tmp_path / "side", run)
    assert git.main_tree(repository, []) == os.path.realpath(tree)
    assert git.head(repository, Files()).branch == "side"


def test_a_submodule_is_a_repository_of_its_own(tree: Path, tmp_path: Path, run: Git, home: Path) -> None:
    """With its own top, head, remote and main tree."""
    outer = tmp_path / "outer"
    outer.mkdir()
    run(outer, "init", "-q")
    run(outer, "submodule", "--quiet", "add", str(tree), "lib/inner")
    inner = outer / "lib" / "inner"
    repository = assert_agrees(inner, run)
    entries = git.settings(repository, Files(), home=str(home), environ={})
    assert git.main_tree(repository, entries) == os.path.realpath(inner)
    assert url(inner, home) == run(inner, "remote", "get-url", "origin")


def test_bare_and_separate_repositories_are_their_own_place(tree: Path, tmp_path: Path, run: Git) -> None:
    """A bare one is the tree itself; a separate git directory is shared by all trees and stands for them."""
    run(tmp_path, "clone", "-q", "--bare", str(tree), "bare.git")
    bare = found(tmp_path / "bare.git")
    assert bare.top == bare.common_dir == git.main_tree(bare, []) == os.path.realpath(tmp_path / "bare.git")
    run(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "apart"), "split")
    run(tmp_path / "split", "commit", "-q", "--allow-empty", "-m", "one")
    run(tmp_path / "split", "worktree", "add", "-q", str(tmp_path / "split-side"))
    one, other = assert_agrees(tmp_path / "split", run), assert_agrees(tmp_path / "split-side", run)
    assert git.main_tree(one, []) == git.main_tree(other, []) == os.path.realpath(tmp_path / "apart")


def test_a_path_through_a_symlink_is_the_real_one(tree: Path, tmp_path: Path, run: Git) -> None:
    """Also where the git directory itself is linked."""
    (tmp_path / "link").symlink_to(tree)
    assert found(tmp_path / "link").top == os.path.realpath(tree)
    (tree / ".git").rename(tmp_path / "moved")
    (tree / ".git").symlink_to(tmp_path / "moved")
    assert_agrees(tree, run)


def test_what_is_no_repository_is_none(tmp_path: Path, tree: Path) -> None:
    """No .git, an empty one, a link to nowhere, garbage, a pipe in its place."""
    plain = tmp_path / "plain"
    plain.mkdir()
    assert git.find(str(plain), Files()) is None
    (plain / ".git").mkdir()
    assert git.find(str(plain), Files()) is None
    (plain / ".git").rmdir()
    for content in ("gitdir: ../nowhere\n", "gitdir: \0\n", "nonsense", "", f"other: {tree}/.git"):
        (plain / ".git").write_text(content)
        assert git.find(str(plain), Files()) is None
    (plain / ".git").unlink()
    os.mkfifo(plain / ".git")
    assert git.find(str(plain), Files()) is None


def test_a_file_that_would_block_or_is_no_text_is_unknown(tree: Path) -> None:
    """A pipe as HEAD, garbage, a ref that climbs out of the repository."""
    head = tree / ".git" / "HEAD"
    for content in (
        b"ref: refs/heads/../../HEAD",
        b"ref: refs/heads/\0",
        b"\xff\xfe",
        b"",
        b"ref:",
        b"ref: refs/heads/.invalid",
    ):
        head.write_bytes(content)
        assert git.head(found(tree), Files()).sha == ""
    head.unlink()
    os.mkfifo(head)
    assert git.head(found(tree), Files()) == git.Head()


def test_head_as_a_symlink_names_its_branch(tree: Path, run: Git) -> None:
    """As repositories of long ago have it."""
    head = tree / ".git" / "HEAD"
    sha = run(tree, "rev-parse", "HEAD")
    head.unlink()
    head.symlink_to("refs/heads/main")
    assert git.head(found(tree), Files()) == git.Head("main", sha)


def test_a_large_file_of_packed_refs_is_found_through(tree: Path, run: Git) -> None:
    """The branch sought stands beyond the first megabyte."""
    sha = run(tree, "rev-parse", "HEAD")
    run(tree, "pack-refs", "--all")
    others = "".join(f"{sha} refs/heads/a{number:06d}\n" for number in range(30_000))
    (tree / ".git" / "packed-refs").write_text(
        f"# pack-refs with: peeled fully-peeled sorted\n{others}{sha} refs/heads/main\n"
    )
    assert (tree / ".git" / "packed-refs").stat().st_size > 1 << 20
    assert_agrees(tree, run)


REMOTES = [
    [("remote.origin.url", "https://a.example/x/y")],
    [("remote.other.url", "https://a.example/x/y")],
    [("remote.up.url", "https://a.example/x/y"), ("remote.origin.url", "git@b.example:x/y")],
    [("remote.origin.url", "work:x/y"), ("url.https://b.example/.insteadOf", "work:")],
    [("remote.origin.url", "work:x/y"), ("url.https://b/.insteadOf", "work:"), ("url.https://c/.insteadOf", "work:x/")],
    [("remote.origin.url", 'odd "quoted" \\ value # not a comment; and more')],
    [("remote.origin.url", " spaced  out ")],
    [("remote.Ori.gin.url", "https://a.example/x")],
]


@pytest.mark.parametrize("pairs", REMOTES)
def test_the_remote_is_what_git_says(tree: Path, run: Git, home: Path, pairs: list[tuple[str, str]]) -> None:
    """Addresses as git writes and rewrites them."""
    for key, value in pairs:
        run(tree, "config", "--add", key, value)
    names = run(tree, "remote").split("\n")
    assert url(tree, home).strip() == run(tree, "remote", "get-url", "origin" if "origin" in names else names[0])
    assert url(tree, home).startswith(" ") is pairs[0][1].startswith(" ")


def test_without_origin_the_branchs_remote_counts_and_two_alone_do_not(tree: Path, run: Git, home: Path) -> None:
    """One of several is named by the branch, or nobody knows."""
    run(tree, "config", "remote.one.url", "https://one.example/x")
    run(tree, "config", "remote.two.url", "https://two.example/x")
    assert url(tree, home) == ""
    run(tree, "config", "branch.main.remote", "two")
    assert url(tree, home) == "https://two.example/x"
    run(tree, "config", "branch.main.remote", "https://three.example/x")
    assert url(tree, home) == "https://three.example/x"
    run(tree, "config", "branch.main.remote", ".")
    assert url(tree, home) == ""


def test_the_users_settings_and_includes_count(tree: Path, run: Git, home: Path) -> None:
    """Rewrites from the home's and the XDG file, remotes from included files, conditions on the git directory."""
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "config").write_text('[url "https://b.example/"]\n\tinsteadOf = b:\n')
    (home / ".gitconfig").write_text(
        '[url "https://c.example/"]\n\tinsteadOf = c:\n'
        f'[includeIf "gitdir:{tree.parent}/"]\n\tpath = yes.inc\n[includeIf "gitdir:/elsewhere/"]\n\tpath = no.inc\n'
        '[includeIf "gitdir/i:TREE/.GIT"]\n\tpath = ~/also.inc\n'
    )
    (home / "yes.inc").write_text('[remote "origin"]\n\turl = b:team/tool\n')
    (home / "also.inc").write_text('[url "https://d.example/"]\n\tinsteadOf = b:team/\n')
    (home / "no.inc").write_text('[url "https://e.example/"]\n\tinsteadOf = b:team/too\n')
    assert url(tree, home) == run(tree, "ls-remote", "--get-url", "origin") == "https://d.example/tool"
    with (home / "yes.inc").open("a") as file:
        file.write("[include]\n\tpath = yes.inc\n")
    assert url(tree, home) == "https://d.example/tool"  # git refuses a file that includes itself; we stop at a depth


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a]\nb=c", [("a", "", "b", "c")]),
        ("[A] B = c ; x\n# y\n;z\n", [("a", "", "b", "c")]),
        ('[a "B\\"\\\\c"]\nd = e', [("a", 'B"\\c', "d", "e")]),
        ("[a.B]\nc = d", [("a", "b", "c", "d")]),
        ("[a]\nb", [("a", "", "b", "true")]),
        ("[a]\nb =", [("a", "", "b", "")]),
        ('[a]\nb = "  x ; y  " z  # w', [("a", "", "b", "  x ; y   z")]),
        ("[a]\nb = one \\\n  two\nc = d", [("a", "", "b", "one   two"), ("a", "", "c", "d")]),
        ('[a]\nb = \\t\\n\\"\\\\', [("a", "", "b", '\t\n"\\')]),
        ("\ufeff[a]\r\nb = c\r\n", [("a", "", "b", "c")]),
        ("[a\nb = c\n[d]\ne = f", [("", "", "b", "c"), ("d", "", "e", "f")]),
        ('[a]\nb = "unclosed\nc = d', [("a", "", "b", "unclosed"), ("a", "", "c", "d")]),
        ("", []),
    ],
)
def test_gits_syntax_is_understood(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    """Sections, subsections with escapes, comments, quotes, continued lines."""
    assert [(e.section, e.subsection, e.key, e.value) for e in config.parse(text)] == expected


@pytest.mark.parametrize(
    ("condition", "applies"),
    [
        ("gitdir:/home/bob/work/", True),
        ("gitdir:~/work/", True),
        ("gitdir:/home/bob/work/tool/.git", True),
        ("gitdir:/home/bob/work", False),
        ("gitdir:tool/.git", True),
        ("gitdir:ool/.git", False),
        ("gitdir:/home/*/work/", True),
        ("gitdir:/*/work/", False),
        ("gitdir:/**/work/", True),
        ("gitdir:/home/b?b/work/", True),
        ("gitdir:/home/b[a-p]b/work/**", True),
        ("gitdir:/home/b[!o]b/work/", False),
        ("gitdir:./work/", True),
        ("gitdir:/HOME/bob/work/", False),
        ("gitdir/i:/HOME/bob/WORK/", True),
        ("onbranch:main", False),
        ("nonsense", False),
    ],
)
def test_an_include_applies_where_its_pattern_matches(condition: str, applies: bool) -> None:
    """The rules of git-config(1) for `gitdir`; other conditions never apply."""
    texts = {
        "/home/bob/.gitconfig": f'[includeIf "{condition}"]\n\tpath = more\n',
        "/home/bob/more": "[user]\n\tname = b\n",
    }
    place = config.Place(git_dirs=("/home/bob/work/tool/.git",), home="/home/bob")
    entries = config.load("/home/bob/.gitconfig", lambda path: texts.get(path, ""), place)
    assert (config.Entry("user", "", "name", "b") in entries) is applies
