"""Installed and upgraded, once each (facts 12.26, 12.27, 20.12)."""

import os
from pathlib import Path

import pytest

from memsyncd.telemetry.lifecycle import Lifecycle
from tests.memsyncd.telemetry.children import race


def due(data: Path, version: str = "1.0.0") -> str | None:
    return Lifecycle(data, version).due()


def test_a_fresh_directory_is_an_install_once(tmp_path: Path) -> None:
    """The first start in an empty directory tells of an install, no later start of this version of anything (12.26)."""
    assert due(tmp_path) == "install"
    assert [due(tmp_path) for _ in range(3)] == [None] * 3
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_what_was_there_before_is_an_upgrade(tmp_path: Path) -> None:
    """Content from before telemetry counts as an earlier version's (12.26)."""
    (tmp_path / "queue.sqlite3").touch()
    assert due(tmp_path) == "upgrade"
    assert due(tmp_path) is None


def test_emptiness_is_sampled_before_anything_is_written(tmp_path: Path) -> None:
    """What this process writes between the sample and the question is not content from before (12.27, 20.12)."""
    lifecycle = Lifecycle(tmp_path / "data", "1.0.0")
    assert lifecycle.sample()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "queue.sqlite3").touch()
    assert lifecycle.sample()
    assert lifecycle.due() == "install"


@pytest.mark.parametrize(
    ("names", "fresh"),
    [
        ([], True),
        (["config.toml", "run/status.sock", "daemon.lock", "hook-errors.log", "paused", "nudge", "unanswered"], True),
        (["spools/codex/pending/x.json", "spools/claude-code/paused"], True),
        (["spools/codex/evidence.sqlite3"], False),
        (["spools/codex/telemetry.jsonl"], False),
        (["memory.sqlite3"], False),
        (["something"], False),
        (["spools"], False),
    ],
)
def test_what_a_person_or_a_hook_left_is_no_earlier_version(tmp_path: Path, names: list[str], fresh: bool) -> None:
    """A written config and handoffs that wait for the first start leave an install an install."""
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert Lifecycle(tmp_path, "1.0.0").sample() is fresh


def test_a_sample_uses_nothing_up(tmp_path: Path) -> None:
    """A run that opted out asks nothing and writes nothing; the event is still there for one that did not (12.26)."""
    Lifecycle(tmp_path, "1.0.0").sample()
    assert not list(tmp_path.iterdir())
    assert due(tmp_path) == "install"


def test_each_version_is_told_of_once(tmp_path: Path) -> None:
    """A change of version is one upgrade, also after going back and forth (12.27)."""
    versions = ["1.0.0", "1.0.0", "1.1.0", "1.1.0", "2.0.0rc1+local/x", "2.0.0rc1+local/x", "1.1.0", "1.0.0", "3.0.0"]
    assert [due(tmp_path, version) for version in versions] == [
        "install", None, "upgrade", None, "upgrade", None, None, None, "upgrade",
    ]  # fmt: skip


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"version": 3}', "\x00"])
def test_a_damaged_state_is_mended(tmp_path: Path, content: str) -> None:
    """An unreadable state counts as another version's, once: it does not disable upgrades for good (12.27, 20.12)."""
    (tmp_path / "telemetry-install.json").write_text(content)
    assert [due(tmp_path), due(tmp_path), due(tmp_path, "1.1.0"), due(tmp_path, "1.1.0")] == ["upgrade", None, "upgrade", None]  # fmt: skip


def test_a_damaged_state_is_no_second_upgrade(tmp_path: Path) -> None:
    """Where this version was told of already, the state is only mended."""
    assert due(tmp_path) == "install"
    (tmp_path / "telemetry-install.json").write_text("")
    assert due(tmp_path) is None
    assert "1.0.0" in (tmp_path / "telemetry-install.json").read_text()


@pytest.mark.parametrize("before", ["nothing", "another version", "damage", "content"])
def test_what_could_not_be_recorded_is_due_again(tmp_path: Path, before: str) -> None:
    """A failed record gives its claim back, whichever it was, as it was (12.27)."""
    if before == "another version":
        due(tmp_path, "0.9.0")
    elif before == "damage":
        (tmp_path / "telemetry-install.json").touch()
    elif before == "content":
        (tmp_path / "queue.sqlite3").touch()
    found = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir())
    for _ in range(2):
        lifecycle = Lifecycle(tmp_path, "1.0.0")
        assert lifecycle.due() == ("install" if before == "nothing" else "upgrade")
        lifecycle.release()
        lifecycle.release()
        assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir()) == found
    assert due(tmp_path) == ("install" if before == "nothing" else "upgrade")


def test_only_what_was_claimed_is_given_back(tmp_path: Path) -> None:
    """A process with nothing due takes nothing from the one that had it."""
    assert due(tmp_path) == "install"
    late = Lifecycle(tmp_path, "1.0.0")
    late.release()
    assert late.due() is None
    late.release()
    assert due(tmp_path) is None


def test_a_crash_between_claim_and_state_is_mended(tmp_path: Path) -> None:
    """A sentinel without its state, as a crash leaves it, is one event lost, not one at every start."""
    due(tmp_path, "0.9.0")
    (tmp_path / "telemetry-version-1.0.0").touch()
    assert due(tmp_path) is None
    assert "1.0.0" in (tmp_path / "telemetry-install.json").read_text()
    assert due(tmp_path, "1.1.0") == "upgrade"


@pytest.mark.parametrize("obstacle", ["directory", "fifo", "link", "no place"])
def test_what_cannot_be_claimed_is_not_due(tmp_path: Path, obstacle: str) -> None:
    """Nothing is raised and nobody waits: without a claim there is no event, rather than one at every start."""
    path = tmp_path / "data" / "telemetry-install.json"
    if obstacle != "no place":
        path.parent.mkdir()
    if obstacle == "directory":
        path.mkdir()
    elif obstacle == "fifo":
        os.mkfifo(path)
    elif obstacle == "link":
        path.symlink_to(tmp_path / "target")
    lifecycle = Lifecycle(path.parent, "1.0.0")
    assert lifecycle.due() is None
    lifecycle.release()
    assert not (tmp_path / "target").exists()


def test_a_file_for_the_directory_is_not_fresh(tmp_path: Path) -> None:
    """What cannot be listed is not called fresh."""
    (tmp_path / "data").touch()
    lifecycle = Lifecycle(tmp_path / "data", "1.0.0")
    assert not lifecycle.sample()
    assert lifecycle.due() is None


SETTING = """
from pathlib import Path
from memsyncd.telemetry.lifecycle import Lifecycle
"""

DUE = """
for number in range(40):
    print(Lifecycle(Path(sys.argv[1]) / str(number), "1.0.0").due())
"""

BEFORE = ["fresh", "older", "damaged", "content"]


def test_parallel_processes_have_one_event(tmp_path: Path) -> None:
    """Windows opened together tell of one install, or of one upgrade (12.26, 12.27, 20.12)."""
    data = [tmp_path / str(number) for number in range(40)]
    for number, place in enumerate(data):
        place.mkdir()
        before = BEFORE[number % 4]
        if before == "older":
            due(place, "0.9.0")
        elif before != "fresh":
            (place / ("telemetry-install.json" if before == "damaged" else "memory.sqlite3")).touch()
    told = race(SETTING, DUE, [[tmp_path]] * 5)
    for number, each in enumerate(zip(*told, strict=True)):
        event = "install" if BEFORE[number % 4] == "fresh" else "upgrade"
        assert sorted(each) == sorted([event, *["None"] * 4])
    assert [due(place) for place in data] == [None] * 40
