"""Our own small files, with any bytes in them: a damaged disk, another version or another program's hand is no crash."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from daemon import clock_trust, ended_pauses, lock, pause_state
from daemon.forgetting.tombstones import NAME as TOMBSTONES
from daemon.forgetting.tombstones import Tombstones, UnreadableTombstones
from daemon.intake.foreign_claims import is_claimed_elsewhere
from daemon.intake.in_hand import InHand
from daemon.intake.spool import Spool, age_at
from daemon.service.failed_starts import FailedStarts
from daemon.status import history
from memsyncd.telemetry.identity import Identity
from memsyncd.telemetry.lifecycle import _version_of
from tests.clocks import HandClock
from tests.fuzz import seeds
from tests.fuzz.target import BREAK, Target, TryOne

NOW = 1_800_000_000.0


class _Files:
    """An input's parts: which file, and what it holds."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.spool = Spool(place / "x-plugin", "x", own=False)
        for directory in (self.spool.pending, self.spool.dead):
            directory.mkdir(parents=True)
        self.readers: Mapping[bytes, tuple[Path, Callable[[Path], object]]] = {
            b"pauses": (place / "pauses.json", _pauses),
            b"ended pauses": (
                place / ended_pauses.NAME,
                lambda path: ended_pauses.encoded(ended_pauses.read(path) or ()),
            ),
            b"clock": (place / "clock.json", clock_trust.read),
            b"tombstones": (place / TOMBSTONES, _tombstones),
            b"starts": (place / "failed-starts.json", lambda _: FailedStarts(place).begin(NOW)),
            b"in hand": (place / "in-hand.json", lambda path: InHand(path).is_deadly("s", "h")),
            b"lock": (place / "daemon.lock", lock.holder),
            b"history": (place / "history", lambda path: [*history.from_file(path, 60, NOW)]),
            b"identity": (place / "identity.json", _identity),
            b"version": (place / "version.json", lambda path: _version_of(path.read_bytes())),
            b"reason": (self.spool.dead / "a.reason.json", lambda _: self.spool.dead_letters()),
            b"claim": (self.spool.pending / "a.running", self._claim),
        }
        (self.spool.dead / "a.json").write_bytes(b"{}")

    def _claim(self, _: Path) -> bool:
        return is_claimed_elsewhere(self.spool, "s", (), age_at(NOW))

    def try_one(self, content: bytes) -> None:
        name, _, held = content.partition(BREAK)
        path, read = (
            self.readers.get(name.strip()) or self.readers[sorted(self.readers)[len(content) % len(self.readers)]]
        )
        path.write_bytes(held)
        os.chmod(path, 0o600)
        read(path)
        path.unlink(missing_ok=True)


def _pauses(path: Path) -> None:
    state = pause_state.read(path)
    state.project("https://git.example.org/a", "/w/shop")
    pause_state.encoded(state)


def _tombstones(path: Path) -> None:
    with suppress(UnreadableTombstones):
        stones = Tombstones(path.parent)
        stones.covers(session_id="s", repo_id="r", captured_at=NOW)
        for target in stones.unfinished():
            target.document()


def _identity(path: Path) -> None:
    made = Identity(path, lambda: "0" * 32, HandClock().clock())
    made.settle()


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    yield _Files(place).try_one


def inputs() -> Iterator[bytes]:
    """Yield each file as we write it."""
    pause = {"since": NOW, "seconds": 60.0, "boot": "b", "up": 5.0}
    target = {"key": "k", "at": NOW, "session_id": "s", "repo_id": "", "app_id": "", "project_id": "", "root": "",
              "memory_id": "", "remote": False, "shared": False}  # fmt: skip
    documents = {
        "pauses": {"v": 1, "all": pause, "projects": [{"repo_id": "r", "root": "/w", "pause": pause}]},
        "ended pauses": {"v": 1, "projects": [{"repo_id": "r", "root": "/w", "spans": [[NOW, NOW + 1.5]]}]},
        "clock": {"believed": NOW, "doubted": None, "last": NOW},
        "tombstones": {"v": 1, "tombstones": {"a" * 32: NOW}, "unfinished": [target]},
        "starts": {"starts": [NOW - 5, NOW - 1], "why": "the port is taken"},
        "in hand": {"spool": "s", "handoff": "h", "deaths": 2},
        "lock": {"pid": 4711, "run_id": "r", "socket": "/run/x.sock"},
        "identity": {"anonymous_id": "code-anon-0", "email": "", "fingerprint": "", "aliased": True, "asked_at": 0},
        "version": {"version": "0.1.0"},
        "reason": {"reason": "expired", "detail": "", "file": "a.json"},
        "claim": {"hook_input": {"session_id": "s"}},
    }
    for name, document in documents.items():
        yield name.encode() + BREAK + seeds.line(document)
    yield b"history" + BREAK + bytes(range(256)) * 8


WORDS = tuple(
    b"pauses ended spans clock tombstones starts lock history identity version reason claim believed doubted last since seconds up v"
    b" all projects pause root unfinished at key pid deaths 1e999 NaN Infinity -0 asked_at anonymous_id code-anon-".split()
)
TARGET = Target("state_files", opened, inputs, WORDS, longest=16_384, share=5)
