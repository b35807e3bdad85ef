"""What a malicious repository may do to whoever installs our hooks or our server into it: choose no file outside it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon.installing import hooks, tools
from daemon.installing.errors import CannotInstall, Unsafe
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around

PROJECT = [harness for harness in HARNESSES.values() if harness.project]
SERVED = [harness for harness in HARNESSES.values() if harness.tools and harness.tools.project]


@pytest.fixture
def around(tmp_path: Path) -> Around:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Around(tmp_path / "project", {}, os.geteuid(), is_project=True)


def _file(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target / "file")


def _directory(path: Path, target: Path) -> None:
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.symlink_to(target)


LINKS: list[Callable[[Path, Path], None]] = [_file, _directory]


def tried(around: Around, path: Path, act: Callable[[], object]) -> None:
    """Try with a link that leads to the home, to a file there and to none yet, and see that nothing came of it."""
    home = around.root.with_name("home")
    for link in LINKS:
        if link is _directory and path.parent == around.root:
            continue
        link(path, home)
        with pytest.raises(Unsafe, match="leads out of the project"):
            act()
        assert list(home.iterdir()) == []
        (home / "file").write_text("{}")
        (home / path.name).write_text("{}")
        with pytest.raises(Unsafe):
            act()
        assert {file.read_text() for file in home.iterdir()} == {"{}"}
        for file in home.iterdir():
            file.unlink()
        (path.parent if path.parent.is_symlink() else path).unlink()
        for directory in (path.parent, *path.parent.parents):
            if directory == around.root or not directory.is_dir():
                break
            directory.rmdir()


@pytest.mark.parametrize("harness", PROJECT, ids=lambda harness: harness.name)
def test_hooks_go_into_the_project_or_nowhere(around: Around, harness: hooks.Harness) -> None:
    """A link in the place of the settings, or of the directory they lie in."""
    path = harness.file(around.root, {}, is_project=True)
    tried(around, path, lambda: hooks.install(harness, around))
    tried(around, path, lambda: hooks.uninstall(harness, around))


@pytest.mark.parametrize("harness", PROJECT, ids=lambda harness: harness.name)
def test_a_look_follows_no_link_out_either(around: Around, harness: hooks.Harness) -> None:
    """What it finds is told as unreadable, with the reason."""
    path = harness.file(around.root, {}, is_project=True)
    _file(path, around.root.with_name("home"))
    found = hooks.look(harness, around)
    assert found.state == "unreadable"
    assert "leads out of the project" in found.problems[0]


@pytest.mark.parametrize("harness", SERVED, ids=lambda harness: harness.name)
def test_the_server_s_entry_goes_into_the_project_or_nowhere(around: Around, harness: hooks.Harness) -> None:
    """The same of the file of a client's servers."""
    assert harness.tools is not None and harness.tools.project is not None
    path = harness.tools.project.path(around.root, {})
    tried(around, path, lambda: tools.install(harness, around, ("/x/memsyncd", "mcp")))


@pytest.mark.parametrize("harness", PROJECT, ids=lambda harness: harness.name)
def test_a_link_within_the_project_is_followed(around: Around, harness: hooks.Harness) -> None:
    """People do keep settings elsewhere in their repository."""
    path = harness.file(around.root, {}, is_project=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(around.root / "kept")
    hooks.install(harness, around)
    assert path.is_symlink()
    assert (around.root / "kept").read_text()


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "\x00", "{", '{"hooks": []}', '{"hooks": {"Stop": {}}}', "/*" * 100_000]
)
@pytest.mark.parametrize("harness", PROJECT, ids=lambda harness: harness.name)
def test_settings_that_are_none_are_left_as_they_are(around: Around, harness: hooks.Harness, text: str) -> None:
    """Nested without end, cut off, or of another shape: a sentence, and not a byte changed; or what is right is done."""
    path = harness.file(around.root, {}, is_project=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    try:
        hooks.install(harness, around)
    except CannotInstall:
        assert path.read_text() == text
