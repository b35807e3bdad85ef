"""A spool whose owner or mode is wrong, that is deleted and made again, or where links were planted."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Home
from tests.faults.conftest import need_root
from tests.faults.seen import delivered, problem, session, until_delivered, until_told, until_well
from tests.security.test_in_the_way import ALONE, TOGETHER

STRANGER = 4242
"""A user that this machine need not know."""


def closed(path: Path) -> None:
    path.chmod(0)


def not_to_be_written(path: Path) -> None:
    path.chmod(0o500)


def another_s(path: Path) -> None:
    os.chown(path, STRANGER, STRANGER)


@pytest.mark.parametrize(
    ("what", "spoil", "code", "words"),
    [
        ("", closed, "spool-unreadable", ("Permission denied", "chmod -R u+rwX")),
        ("", another_s, "spool-unreadable", ("another user", "chown")),
        ("", not_to_be_written, "spool-read-only", ("chmod -R u+rwX",)),
        ("pending", not_to_be_written, "spool-read-only", ("Permission denied", "chmod -R u+rwX")),
        ("evidence.sqlite3", another_s, "spool-unreadable", ("Permission denied", "chown")),
    ],
)
def test_a_spool_of_wrong_owner_or_mode(
    powerless: Home, what: str, spoil: Callable[[Path], None], code: str, words: Sequence[str]
) -> None:
    """Found at a start: it is told with what to type, the neighbour is delivered, and once it was typed so is this."""
    need_root()
    home = powerless
    home.start()
    session(home, "before")
    until_delivered(home, "before")
    assert home.stop() == 0
    session(home, "waits")
    path = home.spool() / what
    mode = path.stat().st_mode & 0o777
    spoil(path)
    home.start()
    session(home, "beside", "codex")
    until_told(home, code, str(home.spool()), *words)
    home.until(lambda: delivered(home) == ["before", "beside"], "the neighbour is not delivered")
    assert not problem(home, "watcher-polling")
    os.chown(path, 0, 0)
    path.chmod(mode)
    until_delivered(home, "before", "beside", "waits")
    until_well(home, code)


@pytest.mark.parametrize("name", ["queue.sqlite3", "spools/claude-code/evidence.sqlite3"])
def test_a_database_whose_mode_lets_nobody_in(powerless: Home, name: str) -> None:
    """Left so by a restore from a backup: it is the owner's, so it is opened to the owner and to nobody else."""
    need_root()
    session(powerless, "before")
    assert powerless.run("run", "--once").returncode == 0
    path = powerless.places.data / name
    path.chmod(0o044)
    session(powerless, "waits")
    powerless.start()
    until_delivered(powerless, "before", "waits")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_spool_deleted_and_made_again(hosted: Home) -> None:
    """In the midst of what waits in it: what is gone is gone, the neighbour and what comes later are delivered, and
    nothing is red about it."""
    hosted.start()
    session(hosted, "before")
    session(hosted, "beside", "codex")
    until_delivered(hosted, "before", "beside")
    assert hosted.api is not None
    hosted.api.refuse_connections()
    session(hosted, "gone")
    session(hosted, "stays", "codex")
    hosted.until(lambda: hosted.status()["jobs"]["waiting"] > 3, "nothing waits")
    hosted.delete(hosted.spool())
    session(hosted, "after")
    hosted.api.accept_connections()
    until_delivered(hosted, "after", "before", "beside", "stays")
    hosted.until(lambda: hosted.status()["state"] == "ok", "it is red")
    assert not problem(hosted, "dead-letters")


@pytest.mark.parametrize("names", [*((name,) for name in ALONE), TOGETHER], ids=[*ALONE, "all the others"])
def test_a_link_in_the_place_of_what_we_make(hosted: Home, names: Sequence[str]) -> None:
    """What it leads to is neither written nor cut off nor closed to others; without it all is delivered."""
    precious = hosted.root / "precious"
    precious.write_text("a letter")
    precious.chmod(0o644)
    for name in names:
        path = hosted.places.data / name
        for directory in reversed([each for each in path.parents if each.is_relative_to(hosted.places.data)]):
            directory.mkdir(mode=0o700, exist_ok=True)
        path.symlink_to(precious)
    session(hosted, "s")
    done = hosted.run("run", "--once")
    assert done.returncode in (0, 1, 78)
    assert "Traceback" not in done.stderr
    assert (precious.read_text(), precious.stat().st_mode & 0o777) == ("a letter", 0o644)
    for name in names:
        (hosted.places.data / name).unlink(missing_ok=True)
    assert hosted.run("run", "--once").returncode == 0
    assert delivered(hosted) == ["s"]
