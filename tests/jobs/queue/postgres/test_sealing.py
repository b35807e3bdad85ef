"""What stands in the database: digests and sealed bytes, no names; and what becomes of what cannot be opened."""

import hashlib
from typing import Any

import pytest

from jobs.job import JobState, NewJob
from jobs.outcomes import Done, Snooze
from jobs.queue.postgres.sealing import OtherKey, Sealing
from tests.jobs.queue.fleet import Fleet

NAMES = ("acme-secret-plans", "claude-code", "s-4711", "p-0815")
"""What a repository, a spool, a session and a packet are called."""


class Reversed:
    """Seals by turning bytes round, behind a name of the key: enough to tell sealed from not."""

    digest_key = b"shared by the fleet"

    def __init__(self, name: bytes = b"one:") -> None:
        self._name = name

    def seal(self, clear: bytes) -> bytes:
        return self._name + clear[::-1]

    def open(self, sealed: bytes) -> bytes:
        if not sealed.startswith(self._name):
            raise ValueError("it was sealed with another key")
        return sealed[len(self._name) :][::-1]


def job(**fields: Any) -> NewJob:
    repository, spool, session, packet = NAMES
    given: dict[str, Any] = {"payload": {"repository": repository}, "lane": f"{spool}/{session}", **fields}
    return NewJob(f"flush:{spool}:{packet}", "flush", **given)


def stored(fleet: Fleet) -> str:
    """Return every column of every row of every table as text, bytes decoded."""
    tables = [
        name for (name,) in fleet.statement("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    ]
    rows = [row for name in tables for row in fleet.statement(f"SELECT * FROM {name}")]
    return repr([[bytes(value).decode("latin-1") if isinstance(value, (bytes, memoryview)) else value for value in row] for row in rows])  # fmt: skip


def test_columns_hold_no_names(fleet: Fleet) -> None:
    """Whoever sees the tables sees kinds, destinations, accounts and hosts; with a sealing no name at all."""
    queue = fleet.machine(sealing=Reversed())
    queue.enqueue(job())
    claim = queue.claim()
    assert claim is not None
    queue.finish(claim, Snooze(60, "sent", payload={"repository": NAMES[0], "n": 2}))
    assert not [name for name in NAMES if name in stored(fleet)]
    found = queue.get(claim.job.id)
    assert found is not None
    assert (found.id, found.lane, found.payload) == (job().id, job().lane, {"repository": NAMES[0], "n": 2})
    assert queue.jobs(lane=job().lane) == [found]


def test_without_a_sealing_names_are_in_no_column_but_the_payloads(fleet: Fleet) -> None:
    """Ids and lanes are digests all the same."""
    fleet.machine().enqueue(job())
    fleet.statement("UPDATE memsyncd_jobs SET sealed = ''")
    assert not [name for name in NAMES if name in stored(fleet)]


def test_digests_are_keyed(fleet: Fleet) -> None:
    """With a key nobody else can find out an id by trying; the key is the fleet's and not the machine's."""
    fleet.machine("one", sealing=Reversed()).enqueue(job())
    plain = hashlib.blake2b(job().id.encode(), digest_size=16, person=b"job").digest()
    assert fleet.statement("SELECT key FROM memsyncd_jobs WHERE key = %s", plain) == []
    assert fleet.machine("two", sealing=Reversed()).enqueue(job()) == 0


@pytest.mark.parametrize(
    ("sealed", "sealing", "why"),
    [
        (b"two:}{", Reversed(), "the payload cannot be opened: it was sealed with another key"),
        (b"\x80", None, "the payload cannot be opened: 'utf-8' codec"),
        (b"{", None, "the payload is no JSON"),
        (b"[]", None, "the payload is a JSON list"),
        (b'{"id": 1, "lane": "", "payload": {}}', None, "the payload is no job's"),
        (b'{"a": ' * 100_000, None, "the payload is no JSON"),
    ],
)
def test_what_cannot_be_opened_is_set_aside(fleet: Fleet, sealed: bytes, sealing: Sealing | None, why: str) -> None:
    """It is dead with the reason and keeps its bytes; its lane goes on; it is known by its key, and can be retried."""
    queue = fleet.machine(sealing=sealing)
    queue.enqueue(job(), NewJob("next", "flush", lane=job().lane))
    fleet.statement("UPDATE memsyncd_jobs SET sealed = %s WHERE seq = 1", sealed)
    told = []
    queue.on_settled = lambda job, _: told.append(job)
    claim = queue.claim()
    assert claim is not None
    assert claim.job.id == "next"
    (dead,) = queue.jobs(state=JobState.DEAD)
    assert dead.reason.startswith(why)
    assert (dead.id[0], dead.payload, told) == ("#", {}, [dead])
    assert fleet.counters.snapshot()["jobs_undecodable"] == 1
    assert fleet.statement("SELECT sealed FROM memsyncd_jobs WHERE state = 'dead'") == [(sealed,)]
    assert queue.finish(claim, Done()) is not None
    assert queue.get(dead.id) == dead
    assert queue.discard(dead.id)


def test_text_with_a_nul_is_stored(fleet: Fleet) -> None:
    """PostgreSQL's text takes no NUL: an error's words with one are kept with it spelt out."""
    queue = fleet.machine()
    queue.enqueue(NewJob("a\0", "flush", {"text": "\0"}, lane="l\0"))
    claim = queue.claim()
    assert claim is not None
    done = queue.finish(claim, Snooze(1, "odd \0 answer"))
    assert done is not None
    assert (done.id, done.lane, done.payload, done.reason) == ("a\0", "l\0", {"text": "\0"}, "odd \\0 answer")


class Foreign(Reversed):
    """Opens nothing: the key is another's."""

    def open(self, sealed: bytes) -> bytes:
        raise OtherKey("it was sealed with a key that is not here")


def test_what_was_sealed_for_others_is_left_to_them(fleet: Fleet) -> None:
    """A machine that lacks the key puts it off as it is and takes what it can; one with the key gets it meanwhile."""
    fleet.machine("one", sealing=Reversed()).enqueue(job(), NewJob("next", "flush"))
    without = fleet.machine("two", sealing=Foreign())
    assert without.claim() is None
    assert without.counts().dead == 0
    (left, _) = without.jobs(state=JobState.WAITING)
    assert left.reason.startswith("no machine that can open its payload has taken it yet")
    fleet.hands.move(31.0)
    taken = fleet.machine("three", sealing=Reversed()).claim()
    assert taken is not None
    assert (taken.job.id, taken.job.attempts, taken.job.crashes) == (job().id, 0, 0)
