"""Whatever the order of recording, reserving, failing, closing and reopening, no event is lost or in two packets."""

import itertools
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memsyncd.clock import Clock
from memsyncd.evidence.event import NewEvent, PacketStatus, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.packets import checkpoint

SESSIONS = st.sampled_from(["s-1", "s-2"])
KINDS = st.sampled_from(["user_prompt", "assistant_stop", "tool_result", "session_start"])


class EvidenceMachine(RuleBasedStateMachine):
    """A store beside the plain list of what was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory(prefix="ev-", dir="/tmp")
        self.numbers = itertools.count()
        self.recorded: list[NewEvent] = []
        self.closed: set[str] = set()
        self.store = self._open()

    def _open(self) -> EvidenceStore:
        return EvidenceStore.open(Path(self.directory.name) / "evidence.sqlite3", own=True, clock=Clock())

    @rule(kinds=st.lists(st.tuples(SESSIONS, KINDS), min_size=1, max_size=6))
    def record(self, kinds: list[tuple[str, str]]) -> None:
        """Record new events; every text differs."""
        events = []
        for session, kind in kinds:
            number = next(self.numbers)
            scope = Scope("repo", "app")
            events.append(NewEvent(session, kind, {"text": f"t{number}"}, "2026-11-30T10:00:00Z", f"h{number}", scope))
        assert self.store.append(events).inserted == len(events)
        self.recorded += events

    @rule()
    def record_again(self) -> None:
        """Record all handoffs once more, as after a crash before their unlink."""
        assert self.store.append(self.recorded).inserted == 0

    @rule(session=SESSIONS, reason=st.sampled_from(["periodic", "idle", "session-end"]))
    def reserve(self, session: str, reason: str) -> None:
        """Reserve: an open packet comes first and unchanged; a new one is what the selection says."""
        before, waiting = self.store.open_packet(session), self.store.unflushed(session)
        ends = [event.id for event in checkpoint.select(waiting, forced=reason != "periodic")]
        expected = [event.id for event in waiting if ends and ends[0] <= event.id <= ends[-1]]
        packet = self.store.prepare(
            session, reason, lambda events: checkpoint.select(events, forced=reason != "periodic")
        )
        if before is not None:
            assert packet is not None
            assert packet.packet_id == before.packet_id
        elif packet is None:
            assert expected == []
        else:
            assert [event.id for event in self.store.packet_events(packet.packet_id)] == expected

    @rule(session=SESSIONS, status=st.sampled_from([PacketStatus.ERROR, PacketStatus.TIMEOUT]))
    def fail(self, session: str, status: PacketStatus) -> None:
        """Fail an attempt, which raises the count by one."""
        packet = self.store.open_packet(session)
        if packet is not None:
            assert self.store.fail_packet(packet.packet_id, status, "why") == packet.attempts + 1

    @rule(session=SESSIONS, status=st.sampled_from([PacketStatus.SUCCEEDED, PacketStatus.GAVE_UP]))
    def close(self, session: str, status: PacketStatus) -> None:
        """Close the packet, which makes room for the next."""
        packet = self.store.open_packet(session)
        if packet is not None:
            self.store.begin_post(packet.packet_id, 0, 1.0)
            self.store.accept_post(packet.packet_id, 0, "evt", 1, 2.0)
            self.store.close_packet(packet.packet_id, status)
            self.closed.add(packet.packet_id)

    @rule()
    def reopen(self) -> None:
        """Open the store anew: nothing depends on the process."""
        self.store.close()
        self.store = self._open()

    @invariant()
    def every_event_is_in_one_place(self) -> None:
        """Find, of each session, closed packets, the open one, the rest; in order, and nothing twice."""
        for session in ("s-1", "s-2"):
            still = [packet for packet in self.store.open_packets() if packet.session_id == session]
            assert len(still) <= 1
            packets = [packet for name in self.closed if (packet := self.store.packet(name)) is not None]
            done = sorted((p for p in packets if p.session_id == session), key=lambda packet: packet.event_start)
            told = [e for packet in [*done, *still] for e in self.store.packet_events(packet.packet_id)]
            told += self.store.unflushed(session)
            expected = [event.payload["text"] for event in self.recorded if event.session_id == session]
            assert [event.payload["text"] for event in told] == expected

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.store.close()
        self.directory.cleanup()


TestEvidenceMachine = EvidenceMachine.TestCase
TestEvidenceMachine.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
