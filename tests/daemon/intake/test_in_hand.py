"""A handoff that the daemon does not survive, or has no memory for, is given up; its neighbours are taken in."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.intake.grace import GRACE_SECONDS
from daemon.intake.in_hand import HEAVY_BYTES, MOST_DEATHS, TRIALS, InHand
from daemon.intake.spool import Spool
from tests.daemon.intake.ingesting import Ingesting


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


class Starved(Spool):
    """A spool that is read by a process without memory."""

    def read(self, stem: str) -> bytes:
        if stem.startswith("starving"):
            raise MemoryError
        return super().read(stem)


def test_what_a_process_had_in_hand_when_it_died_is_counted(tmp_path: Path) -> None:
    """By handoff and spool; another one, and one that was put down, begins anew."""
    path = tmp_path / "in-hand.json"
    for deaths in range(MOST_DEATHS):
        hand = InHand(path)
        assert not hand.is_deadly("codex", "a"), deaths
        hand.take("codex", "a")
    hand = InHand(path)
    assert hand.is_deadly("codex", "a")
    assert not hand.is_deadly("codex", "b")
    assert not hand.is_deadly("claude-code", "a")
    hand.take("codex", "a")
    hand.put_down()
    assert not path.exists()
    assert not InHand(path).is_deadly("codex", "a")


def test_after_three_deaths_it_waits_for_a_daemon_that_has_lived(tmp_path: Path) -> None:
    """The longer, the more deaths: what is first in a spool is in hand first, whatever kills the daemon."""
    path, now = tmp_path / "in-hand.json", [0.0]
    for seconds in TRIALS:
        hand = InHand(path, lambda: now[0])
        assert hand.waits("codex", "a") is bool(seconds)
        assert not hand.waits("codex", "b")
        hand.put_down()  # it took others meanwhile
        now[0] += seconds
        assert not hand.waits("codex", "a")
        hand.take("codex", "a")
    assert InHand(path).is_deadly("codex", "a")


def test_a_daemon_that_dies_of_something_else_gives_nothing_up(tmp_path: Path) -> None:
    """Killed before it has lived for a while, as often as may be."""
    path = tmp_path / "in-hand.json"
    for _ in range(3):
        InHand(path).take("codex", "a")
    for _ in range(20):
        hand = InHand(path)
        assert hand.waits("codex", "a")
        hand.scanned()
    assert not hand.is_deadly("codex", "a")


def test_what_does_not_wait_any_more_is_forgotten(tmp_path: Path) -> None:
    """The daemon died after it was taken in and before that was told, or a person took it away."""
    path = tmp_path / "in-hand.json"
    InHand(path).take("codex", "a")
    hand = InHand(path)
    assert not hand.is_deadly("codex", "b")
    hand.scanned()
    assert not path.exists()


@pytest.mark.parametrize("left", [b"", b"{", b"[1]", b'{"spool": "codex"}', b"\xff" * 10_000])
def test_a_note_that_makes_no_sense_is_none(tmp_path: Path, left: bytes) -> None:
    """A death in the midst of writing it, or another version's."""
    (tmp_path / "in-hand.json").write_bytes(left)
    hand = InHand(tmp_path / "in-hand.json")
    assert not hand.is_deadly("codex", "a")
    hand.take("codex", "a")
    assert not InHand(tmp_path / "in-hand.json").is_deadly("codex", "a")


def test_a_note_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    """On a full disk the handoff is taken all the same."""
    hand = InHand(tmp_path / "none" / "in-hand.json")
    hand.take("codex", "a")
    hand.put_down()


def test_a_large_handoff_is_noted_while_it_is_in_hand(at: Ingesting, tmp_path: Path) -> None:
    """And after as many deaths as may be it is given up, whole and with a reason; the next is taken in."""
    path = tmp_path / "in-hand.json"
    for _ in range(MOST_DEATHS):
        InHand(path).take("claude-code", "deadly")
    at.ingest = replace(at.ingest, in_hand=InHand(path))
    at.prompt("x" * HEAVY_BYTES, name="deadly")
    at.prompt("small")
    at.scan()
    assert at.texts() == ["small"]
    (reason,) = at.set_aside("dead").values()
    assert "MemoryMax" in reason
    assert not path.exists()
    at.spool.revive("deadly")
    at.scan()
    assert len(at.texts()) == 2


@pytest.mark.parametrize("size", [1, HEAVY_BYTES])
def test_without_memory_a_handoff_waits_and_is_then_given_up(at: Ingesting, size: int) -> None:
    """It is not called corrupt, for it may be sound, and what stands behind it is taken in; once there is memory, or
    somebody retries it, so is it."""
    at.served._spools["claude-code"] = Starved(at.spool_path, "claude-code", own=True)
    at.prompt("x" * size, name="starving")
    at.prompt("neighbour", name="t")
    at.scan()
    assert at.texts() == ["neighbour"]
    assert at.pending() == ["starving.json"]
    at.hands.move(GRACE_SECONDS + 1)
    at.scan()
    (reason,) = at.set_aside("dead").values()
    assert "MemoryMax" in reason
    assert at.set_aside("corrupt") == {}
    at.served._spools["claude-code"] = Spool(at.spool_path, "claude-code", own=True)
    at.spool.revive("starving")
    at.scan()
    assert len(at.texts()) == 2
