"""A handoff that may ask for its session's transcript."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.intake.spool import Spool, Waiting
from memsyncd.clock import from_rfc3339
from memsyncd.hooks.handoff import Handoff
from memsyncd.hooks.record import Record
from memsyncd.transcripts import place
from memsyncd.transcripts.sources import AnswerFrom, Source

ANSWER = "assistant_stop"


@dataclass(frozen=True, slots=True)
class Asked:
    """`home` is the user's, and `records` what the handoff tells by itself."""

    handoff: Handoff
    records: Sequence[Record]
    source: Source
    session_id: str
    spool: Spool
    waiting: Waiting
    home: Path

    @property
    def around(self) -> place.Around:
        """Where its harness keeps transcripts."""
        moved = self.handoff.extra.get("harness_home")
        return place.Around(self.home, moved if isinstance(moved, str) else "")

    @property
    def is_of_payloads(self) -> bool:
        """Whether its harness's payloads tell answers, but for some."""
        return self.source.answer_from is AnswerFrom.PAYLOAD

    @property
    def has_answer(self) -> bool:
        """Whether its payload has told one."""
        return any(record.kind == ANSWER for record in self.records)

    @property
    def captured_at(self) -> float | None:
        """When it was, in Unix seconds; None where it does not say."""
        return from_rfc3339(self.handoff.captured_at)

    @property
    def session(self) -> tuple[str, str]:
        """What tells the session from those of other spools."""
        return self.spool.name, self.session_id

    @property
    def directory(self) -> str:
        """Where the agent stood: as its adapter says, else as the fields say that harnesses have for it."""
        handoff = self.handoff
        hook = handoff.hook_input
        told: list[object] = [*(record.cwd for record in self.records), hook.get("cwd")]
        for key in ("workspace_roots", "workspacePaths"):
            roots = hook.get(key)
            told.append(next(iter(roots), "") if isinstance(roots, list) else "")
        told += [handoff.extra.get("project"), handoff.cwd]
        return next((each[: place.MAX_PATH] for each in told if isinstance(each, str) and each), "")
