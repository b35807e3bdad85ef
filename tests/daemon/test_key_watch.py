"""How a changed key is taken up, and when the command that gives it runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.key_watch import REFUSED, KeyWatch
from jobs.job import NewJob
from jobs.outcomes import Cool
from tests.daemon.composed import Composed, composed

KEY = "m0-" + "a" * 20


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Composed]:
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "key").chmod(0o600)
    command = f"sh -c 'echo run >> {tmp_path}/runs; cat {tmp_path}/key'"
    with composed(tmp_path, MEMSYNCD_PLATFORM_KIND="mem0", MEMSYNCD_PLATFORM_API_KEY_COMMAND=command) as made:
        yield made


@pytest.fixture
def by_file(tmp_path: Path) -> Iterator[Composed]:
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "key").chmod(0o600)
    file = str(tmp_path / "key")
    with composed(tmp_path, MEMSYNCD_PLATFORM_KIND="mem0", MEMSYNCD_PLATFORM_API_KEY_FILE=file) as made:
        yield made


def watch(home: Composed) -> KeyWatch:
    parts = home.parts
    return KeyWatch(parts.key_source, parts.queue, parts.platform, parts.findings)


def refuse(home: Composed) -> None:
    """Let the platform refuse the key."""
    destination = home.parts.platform.destination
    home.parts.queue.enqueue(NewJob("j", "flush", destination=destination))
    claim = home.parts.queue.claim()
    assert claim is not None
    home.parts.queue.finish(claim, Cool(destination, "the key was refused (401)", REFUSED, parked=True))
    assert is_parked(home)


def is_parked(home: Composed) -> bool:
    return any(destination.parked for destination in home.parts.queue.destinations())


def runs(home: Composed) -> int:
    return (home.root / "runs").read_text().count("run")


def test_a_destination_that_was_refused_is_probed_after_a_start(by_file: Composed) -> None:
    """The key may have been put in order while nothing ran."""
    refuse(by_file)
    by_file.upkeep.start()
    assert not is_parked(by_file)


def test_a_key_that_comes_back_lets_go_what_its_absence_held(by_file: Composed) -> None:
    """Though it is the same as before."""
    looking = watch(by_file)
    looking.look()
    (by_file.root / "key").rename(by_file.root / "away")
    looking.look()
    assert "key-missing" in by_file.codes()
    refuse(by_file)
    (by_file.root / "away").rename(by_file.root / "key")
    looking.look()
    assert not is_parked(by_file)
    assert by_file.codes() == {}


def test_the_same_key_stays_refused(by_file: Composed) -> None:
    """A tick is no reason to ask again."""
    looking = watch(by_file)
    looking.look()
    refuse(by_file)
    looking.look()
    assert is_parked(by_file)


def test_the_command_runs_again_only_while_its_key_is_refused(
    hosted: Composed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password store is not asked for ever; one whose key was changed is asked soon."""
    monkeypatch.setattr("daemon.api_key.command.AGAIN_AFTER_REFUSAL_SECONDS", 0.0)
    looking = watch(hosted)
    for _ in range(3):
        looking.look()
    assert runs(hosted) == 1
    refuse(hosted)
    (hosted.root / "key").write_text("m0-" + "b" * 20)
    looking.look()
    assert runs(hosted) == 2
    assert not is_parked(hosted)


def test_a_key_that_others_can_read_is_used_and_said_so(by_file: Composed) -> None:
    """A file of mode 0644 gives a key all the same; that it is not kept well is another matter than having none."""
    (by_file.root / "key").chmod(0o644)
    watch(by_file).look()
    assert "key-missing" not in by_file.codes()
    assert "key-exposed" in by_file.codes()
