"""What a malicious repository may do: be read, within bounds, and run nothing."""

import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memsyncd.hooks.command_line import command_line
from memsyncd.scope import config
from memsyncd.scope.resolve import ScopeResolver
from tests.security.hostile import ESCAPES, NAME, UNSEEN, tree

QUICK_SECONDS = 10.0
"""Processor seconds, on a slow machine; before they were bounded some took minutes, and some had no end."""

MEGABYTE = 1 << 20


@pytest.fixture
def resolver(tmp_path: Path) -> ScopeResolver:
    (tmp_path / "home").mkdir()
    return ScopeResolver(tmp_path / "home", {})


def quickly(resolver: ScopeResolver, place: Path) -> str:
    """Return the identity that a directory is kept under; fails where that takes long."""
    begun = time.thread_time()
    scope = resolver.resolve(str(place))
    assert time.thread_time() - begun < QUICK_SECONDS
    assert len(scope.repo_id) < 5_000 and len(scope.branch) < 2_000
    return scope.repo_id


RUNS = "touch {mark}"
"""A command that leaves a mark."""

RUNNING = """
[core]
	fsmonitor = {run}
	sshCommand = {run}
	pager = {run}
	editor = {run}
	askPass = {run}
	hooksPath = hooks
	gitProxy = {run}
[alias]
	status = !{run}
[filter "x"]
	clean = {run}
	process = {run}
[diff]
	external = {run}
[credential]
	helper = !{run}
[url "ext::sh -c {run} "]
	insteadOf = https://
[remote "origin"]
	url = ext::sh -c {run}
	uploadpack = {run}
	proxy = ext::{run}
[include]
	path = |{run}
"""


def test_nothing_that_git_would_run_is_run(tmp_path: Path) -> None:
    """Every setting by which git starts a program, and a hook: read in a process that would say so if one began."""
    mark = tmp_path / "mark"
    place = tree(tmp_path / "r", config=RUNNING.format(run=RUNS.format(mark=mark)))
    hook = place / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    script = (
        "import sys\n"
        "started = []\n"
        "names = ('subprocess.Popen', 'os.system', 'os.exec', 'os.posix_spawn', 'os.spawn', 'os.fork', 'pty.spawn')\n"
        "sys.addaudithook(lambda event, _: started.append(event) if event in names else None)\n"
        "from pathlib import Path\n"
        "from memsyncd.scope.resolve import ScopeResolver\n"
        "scope = ScopeResolver(Path(sys.argv[2]), {}).resolve(sys.argv[1])\n"
        "print(started, scope.branch)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(place), str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[] main\n"
    assert not mark.exists()


MODULES = (
    "daemon",
    "memsyncd",
    "jobs",
    "json",
    "os",
    "re",
    "posix",
    "_json",
    "select",
    "sitecustomize",
    "usercustomize",
    "click",
    "httpx",
    "huey",
    "mcp",
    "structlog",
)
"""Names that some program of ours imports."""


def test_a_repository_s_own_modules_are_not_run(tmp_path: Path) -> None:
    """Hooks, commands, the demo and the MCP server are started where an agent or a person stands, and import nothing
    from there, nor from where an agent's environment says."""
    place, mark = tree(tmp_path / "r"), tmp_path / "mark"
    for name in MODULES:
        (place / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
    for name in ("daemon", "memsyncd"):
        (place / name).mkdir()
        (place / name / "__init__.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MEMSYNCD_HOME": str(tmp_path / "m")}
    script = Path(sysconfig.get_path("scripts")) / "memsyncd"
    hook = {**environ, "PYTHONPATH": str(place), "PYTHONSTARTUP": str(place / "os.py"), "PYTHONHOME": ""}
    for action in ("stop", "user-prompt"):
        line = command_line(action, "claude-code")
        subprocess.run(["/bin/sh", "-c", line], input=b'{"session_id": "s"}', env=hook, cwd=place, check=True)
    assert len(list((tmp_path / "m" / "spools" / "claude-code" / "pending").iterdir())) == 2
    for arguments in (("status",), ("doctor",), ("mcp",), ("demo",)):
        done = subprocess.run(
            [script, *arguments],
            env=environ,
            cwd=place,
            input="",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize(
    "url",
    [
        "--upload-pack=touch mark",
        "-oProxyCommand=touch mark",
        "ext::sh -c 'touch mark'",
        "https://user:" + "hunter" + "2@git.example.org/o/r",
        "https://token@git.example.org/o/r?key=" + "hunter" + "2#" + "hunter" + "2",
        "file:///etc/passwd",
        "../../../etc/passwd",
        "\\\\server\\share",
    ],
)
def test_an_address_is_a_name_and_keeps_no_secret(tmp_path: Path, resolver: ScopeResolver, url: str) -> None:
    """It is never fetched from, and a user, a password or a query in it is in no identity."""
    identity = quickly(resolver, tree(tmp_path / "r", config=f'[remote "origin"]\n\turl = {url}\n'))
    assert "hunter" not in identity and "token" not in identity
    assert identity.startswith(("https://", "local:"))


@pytest.mark.parametrize(
    "url",
    [
        f"https://git.example.org/{ESCAPES}",
        f"git@git.example.org:o/{UNSEEN}",
        "https://h/a\\nb",
        "https://h/" + "a/" * 50_000,
    ],
)
def test_an_address_that_cannot_be_seen_or_is_endless_is_none(
    tmp_path: Path, resolver: ScopeResolver, url: str
) -> None:
    """The directory is a project by itself then."""
    place = tree(tmp_path / "r", config=f'[remote "origin"]\n\turl = "{url}"\n')
    assert quickly(resolver, place) == f"local:{place}"


def test_a_name_of_any_characters_is_one_directory(tmp_path: Path, resolver: ScopeResolver) -> None:
    """Dots, escapes, a shell's own characters and unseen ones lead nowhere else."""
    place = tree(tmp_path / NAME)
    assert quickly(resolver, place) == f"local:{place}"
    assert not (tmp_path / "touched").exists()


@pytest.mark.no_cover  # tracing would be measured too
@pytest.mark.parametrize(
    "text",
    [
        "\n" * MEGABYTE,
        " \n" * MEGABYTE,
        "[" * MEGABYTE,
        '[a "' + "\\" * MEGABYTE,
        "[a]\n" + "b=1\n" * (MEGABYTE // 4),
        "[a]\nb = \\\n" + "\\\n" * MEGABYTE,
        "[include]\n" + "path = config\n" * 50_000,
        "[include]\n" + "path = /dev/zero\n" * 50_000,
        '[includeIf "gitdir:' + "**/" * 120 + 'x"]\npath = config\n',
        ('[includeIf "gitdir:**/' + "*a" * 150 + '"]\npath = config\n') * 2_000,
        '[remote "origin"]\nurl = ' + "a" * MEGABYTE,
        "[core]\nworktree = " + "a/" * (MEGABYTE // 2),
    ],
    ids=range(12),
)
def test_a_configuration_takes_no_time_whatever_it_holds(tmp_path: Path, resolver: ScopeResolver, text: str) -> None:
    """Blank lines, includes of itself, of others and of devices, wildcards, and lines without an end."""
    deep = tmp_path / "a" / ("a" * 200) / "a" / "a" / "a"
    quickly(resolver, tree(deep, config=text))


def _head(place: Path, content: str) -> None:
    (place / ".git" / "HEAD").write_text(content)


def _replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    def replace(place: Path) -> None:
        path = place / ".git" / name
        if path.is_dir():
            path.rmdir()
        elif path.exists():
            path.unlink()
        make(path)

    return replace


def _link_loop(path: Path) -> None:
    other = path.with_name("other")
    other.symlink_to(path.name)
    path.symlink_to(other.name)


def _git_file(text: str) -> Callable[[Path], None]:
    def replace(place: Path) -> None:
        (place / ".git").rename(place / "elsewhere")
        (place / ".git").write_text(text)

    return replace


def _tree_that_names_itself(place: Path) -> None:
    (place / ".git" / "commondir").write_text(".")
    (place / ".git" / "gitdir").write_text(str(place / ".git"))


ODD = {
    **{f"{name} is a pipe": _replaced(name, os.mkfifo) for name in ("HEAD", "config", "commondir", "packed-refs")},
    **{
        f"{name} has no end": _replaced(name, lambda path: path.symlink_to("/dev/zero"))
        for name in ("HEAD", "config", "packed-refs")
    },
    **{f"{name} leads in a circle": _replaced(name, _link_loop) for name in ("HEAD", "config", "refs", "objects")},
    "HEAD is huge": lambda place: _head(place, "ref: refs/heads/" + "x" * MEGABYTE),
    "HEAD is a path": lambda place: _head(place, "ref: refs/../../../../etc/passwd"),
    "HEAD is escapes": lambda place: _head(place, f"ref: refs/heads/{ESCAPES}"),
    "HEAD names itself": lambda place: _head(place, "ref: HEAD"),
    "references name each other": lambda place: [
        _head(place, "ref: refs/a"),
        (place / ".git" / "refs" / "a").write_text("ref: refs/b"),
        (place / ".git" / "refs" / "b").write_text("ref: refs/a"),
    ],
    "packed references are blank lines": lambda place: (place / ".git" / "packed-refs").write_bytes(
        b"\n" * (32 * MEGABYTE)
    ),
    "packed references nearly match": lambda place: (place / ".git" / "packed-refs").write_bytes(
        b" refs/heads/main" * (2 * MEGABYTE)
    ),
    "commondir is endless": lambda place: (place / ".git" / "commondir").write_text("a/" * (MEGABYTE // 2)),
    "commondir is itself": _tree_that_names_itself,
    "the link leads elsewhere": _git_file("gitdir: /etc\n"),
    "the link leads to itself": _git_file("gitdir: .git\n"),
    "the link leads to a device": _git_file("gitdir: /dev/zero\n"),
    "the link is endless": _git_file("gitdir: " + "a/" * (MEGABYTE // 2)),
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_odd_file_of_git_s_is_neither_waited_for_nor_followed_without_end(
    tmp_path: Path, resolver: ScopeResolver, odd: Callable[[Path], object]
) -> None:
    """Pipes, devices, circles and sizes: the directory is a project all the same, and its branch is a name or none."""
    place = tree(tmp_path / "r")
    odd(place)
    quickly(resolver, place)
    branch = resolver.resolve(str(place)).branch
    assert branch.isprintable() and len(branch) < 1_100


@pytest.mark.timeout(30)
@pytest.mark.parametrize("kind", ["pipe", "directory", "link to nowhere", "huge"])
def test_a_project_that_asks_to_be_ignored_is(tmp_path: Path, kind: str) -> None:
    """Of the marker nothing but its being there is looked at."""
    from daemon.gate import IGNORE_MARKER, Gate

    place = tree(tmp_path / "r")
    marker = place / IGNORE_MARKER
    match kind:
        case "pipe":
            os.mkfifo(marker)
        case "directory":
            marker.mkdir()
        case "link to nowhere":
            marker.symlink_to("/nonexistent/x")
        case _:
            with marker.open("wb") as file:
                file.truncate(1 << 40)
    assert Gate([], tmp_path / "paused").is_excluded(str(place))


def test_what_one_file_may_have_done_for_it_is_counted() -> None:
    """Includes, conditions and characters, however many it asks for."""
    read: list[str] = []

    def files(path: str) -> str:
        read.append(path)
        return "[include]\n\tpath = next\n" * 100_000

    config.load("/r/config", files, config.Place((), ""))
    assert len(read) <= config.MAX_INCLUDES + 1
