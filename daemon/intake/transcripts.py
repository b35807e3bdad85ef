"""Answers that no payload tells, read from the session's transcript before its handoff is recorded.

A stop whose answer is still being written stays in its spool and is looked at again, for some seconds at most; what the
session sends in the meantime waits behind it, so that a flush finds the last answer recorded and prompts keep their
answers. What cannot be read is a problem with a name, and no loss: the offset stays where it was.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from daemon.intake import exclusion_noted
from daemon.intake.own_words import own_words
from daemon.intake.repeats import SAME_EVENT_SECONDS, SESSIONS
from daemon.intake.spool import Spool, Waiting
from daemon.intake.transcript_asked import ANSWER, Asked
from daemon.intake.transcript_waits import TranscriptWaits
from daemon.pause_spans import Span, covers
from daemon.status.findings import Findings
from memsyncd.clock import Clock, from_rfc3339
from memsyncd.counters import Counters
from memsyncd.evidence.store import EvidenceStore
from memsyncd.evidence.transcript_offsets import LastPrompt, TranscriptOffset
from memsyncd.hooks.adapters import session_of
from memsyncd.hooks.handoff import FLUSH, Handoff
from memsyncd.hooks.record import UNKNOWN_SESSION, Record
from memsyncd.transcripts import following, place, recorded, taking
from memsyncd.transcripts.errors import TranscriptMissing, TranscriptUnreadable
from memsyncd.transcripts.following import Look
from memsyncd.transcripts.sources import SOURCES
from memsyncd.transcripts.taking import Choice, Wanted
from memsyncd.transcripts.turn import Exchange

PROMPT = "user_prompt"

PROBLEM = "transcript-unreadable"

SAME_MOMENT_SECONDS = 5.0
"""How far a hook's time and the transcript's own may lie apart for one prompt."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A handoff's records with what its transcript adds, and how far that is read then; None leaves that as it is."""

    records: Sequence[Record]
    reached: TranscriptOffset | None = None


@dataclass
class Transcripts:
    """Used by the one thread that owns the spools. `home` and `owner` are the user's, and nobody else's files are read;
    without `home` none are. `is_excluded` and `pauses_of` are as for Events."""

    clock: Clock
    counters: Counters
    findings: Findings
    is_excluded: Callable[[str], bool]
    pauses_of: Callable[[str], Sequence[Span]] = lambda _: ()
    home: Path | None = None
    owner: int = field(default_factory=os.geteuid)
    waits: TranscriptWaits = field(init=False)
    _reached: dict[tuple[str, str], TranscriptOffset] = field(default_factory=dict)
    _prompts: dict[tuple[str, str], LastPrompt] = field(default_factory=dict)
    _stops: dict[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waits = TranscriptWaits(self.clock)

    def begin_batch(self) -> None:
        """Forget what an earlier batch read: what of it was committed is in the store."""
        self._reached.clear()
        self._prompts.clear()

    def pass_over_pauses(self, spool: Spool, store: EvidenceStore) -> None:
        """Take nothing of what is said in a pause of everything, be it present or one that has ended unseen.

        A marker with content ended at its mtime (daemon/pausing), one without when it was renamed. Raises OSError and
        EvidenceError.
        """
        for marker, is_over in ((spool.paused, False), (spool.resumed, True)):
            try:
                found = marker.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            end = found.st_ctime if is_over else self.clock.wall()
            if store.own and not store.read_only:
                store.pass_over_transcripts(min(end, found.st_mtime) if found.st_size else end)
            if is_over:
                marker.unlink(missing_ok=True)

    def complete(
        self, handoff: Handoff, records: Sequence[Record], spool: Spool, store: EvidenceStore, waiting: Waiting
    ) -> Completed | None:
        """Return what is to be recorded of a handoff; None where that is not complete yet and it has to wait.

        Raises EvidenceError; a transcript's own trouble is a finding.
        """
        source = SOURCES.get(handoff.harness or spool.harness)
        session_id = session_of(handoff)
        if source is None or self.home is None or not store.own or session_id == UNKNOWN_SESSION:
            return Completed(records)
        if self.waits.is_behind(spool.name, session_id, waiting.stem):
            return None
        asked = Asked(handoff, records, source, session_id, spool, waiting, self.home)
        completed = self._complete(asked, store)
        if completed is not None:
            self.waits.forget(spool.name, waiting.stem)
            self._note(asked, completed)
        return completed

    def _complete(self, asked: Asked, store: EvidenceStore) -> Completed | None:
        begins = asked.handoff.action == "session-start" and not asked.is_of_payloads
        wanted = self._wanted(asked, store)
        if wanted is None and not begins:
            return Completed(asked.records)
        known = self._reached.get(asked.session) or store.transcript(asked.session_id)
        captured_at = asked.captured_at or asked.waiting.changed_at
        if self._is_held_back(asked, captured_at):
            return Completed(asked.records, None if known is None else following.passed_over(known, captured_at))
        if wanted is None:
            new = TranscriptOffset(asked.session_id, not_before=captured_at - SAME_MOMENT_SECONDS)
            return Completed(asked.records, new if known is None else None)
        return self._read(asked, wanted, known)

    def _is_held_back(self, asked: Asked, captured_at: float) -> bool:
        """Whether nothing of its directory is captured, or was when it was."""
        is_excluded = self.is_excluded(asked.directory) or exclusion_noted.covers(asked.handoff, asked.directory)
        return is_excluded or covers(self.pauses_of(asked.directory), captured_at)

    def _wanted(self, asked: Asked, store: EvidenceStore) -> Wanted | None:
        """Return what a handoff asks of its transcript, None for nothing."""
        handoff = asked.handoff
        hook = handoff.hook_input
        if handoff.action not in ("stop", FLUSH) or "raw" in handoff.extra or hook.get("memsyncd_oversized") is True:
            return None
        if hook.get("agent_id") or hook.get("hook_event_name") == "StopFailure":
            return None  # a subagent's is its own matter, and a failure's text is the error's
        if asked.is_of_payloads:
            return self._lacking(asked, store)
        if handoff.action == FLUSH:
            return Wanted(is_answer_due=False, is_session_over=handoff.reason == "session-end")
        return Wanted(until=asked.captured_at)

    def _lacking(self, asked: Asked, store: EvidenceStore) -> Wanted | None:
        """Return what the payload should have told: the answer to the session's last prompt, and no earlier one."""
        if asked.handoff.action == FLUSH or asked.has_answer:
            return None
        last = self._prompts.get(asked.session) or store.last_prompt(asked.session_id)
        if last.is_answered:
            return None
        since = from_rfc3339(last.at)
        not_before = 0.0 if since is None else since - SAME_MOMENT_SECONDS
        return Wanted(until=asked.captured_at, is_last_only=True, not_before=not_before)

    def _read(self, asked: Asked, wanted: Wanted, known: TranscriptOffset | None) -> Completed | None:
        path = place.path_of(asked.source, asked.handoff.hook_input, asked.session_id, asked.around)
        if not path and (asked.is_of_payloads or not wanted.is_answer_due):
            return Completed(asked.records)
        may_wait = not self.waits.is_over(asked.spool.name, asked.waiting, self.clock.wall())
        try:
            found = self._look(asked, path, known)
        except TranscriptUnreadable as error:
            if isinstance(error, TranscriptMissing) and may_wait and wanted.is_answer_due:
                self.waits.put_off(asked.spool.name, asked.session_id, asked.waiting.stem)
                return None
            self.counters.add("transcripts_unreadable")
            self.findings.report(PROBLEM, asked.spool.name, f"{path or asked.session_id}: {error}")
            return Completed(asked.records)
        self.findings.clear(PROBLEM, asked.spool.name)
        choice = taking.choose(found, wanted)
        if not choice.taken and self._is_repeated(asked):
            return Completed(asked.records)
        if not choice.is_whole and may_wait:
            self.waits.put_off(asked.spool.name, asked.session_id, asked.waiting.stem)
            return None
        return self._taken(asked, found, choice)

    def _look(self, asked: Asked, path: str, known: TranscriptOffset | None) -> Look:
        opened = place.open_transcript(path, below=asked.around.roots(asked.source), owner=self.owner)
        try:
            return following.look(asked.source.steps_of, opened, asked.session_id, known)
        finally:
            with contextlib.suppress(OSError):
                os.close(opened.descriptor)

    def _taken(self, asked: Asked, found: Look, choice: Choice) -> Completed:
        taken = choice.taken if choice.is_whole else taking.at_last(choice)
        if not taken:
            return Completed(asked.records)
        self.counters.add("transcript_bytes_passed_over", found.bytes_passed_over)
        self.counters.add("transcript_lines_passed_over", found.lines_passed_over)
        records = asked.records
        if not asked.has_answer:
            paused = self.pauses_of(asked.directory)
            kept = [each for each in taken if not any(covers(paused, moment) for moment in each.moments)]
            self.counters.add("exchanges_excluded", len(taken) - len(kept))
            new = [record for each in kept for record in _records(asked, each)]
            self.counters.add("transcript_answers", sum(record.kind == ANSWER for record in new))
            records = (*records, *new)
        return Completed(records, following.after(found, taken))

    def _is_repeated(self, asked: Asked) -> bool:
        """Whether a stop is one that another hook has told already, so that no answer of its own is to come."""
        last = self._stops.get(asked.session)
        return (
            asked.handoff.action == "stop"
            and last is not None
            and asked.captured_at is not None
            and abs(asked.captured_at - last) <= SAME_EVENT_SECONDS
        )

    def _note(self, asked: Asked, completed: Completed) -> None:
        """Remember within the batch what its commit is about to store, and when a session's last answer was read."""
        if asked.handoff.action == "stop" and completed.reached is not None and asked.captured_at is not None:
            self._stops[asked.session] = asked.captured_at
            while len(self._stops) > SESSIONS:
                del self._stops[next(iter(self._stops))]
        if completed.reached is not None:
            self._reached[asked.session] = completed.reached
        for record in completed.records:
            if record.kind in (PROMPT, ANSWER):
                is_answered = record.kind == ANSWER
                self._prompts[asked.session] = LastPrompt(asked.handoff.captured_at, is_answered=is_answered)


def _records(asked: Asked, exchange: Exchange) -> Sequence[Record]:
    session_id, cwd, with_prompts = asked.session_id, asked.directory, asked.source.has_prompts
    return recorded.records(exchange, session_id=session_id, cwd=cwd, fit=own_words, with_prompts=with_prompts)
