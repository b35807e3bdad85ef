"""What people ask the running daemon to do: pause, resume, remember, forget."""

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from daemon import pause_commands
from daemon.compose import Parts
from daemon.forgetting.forgetting import Forgetting
from daemon.intake.ingest_thread import IngestThread
from daemon.pause_watch import release
from daemon.upkeep import Upkeep

if TYPE_CHECKING:
    from memsyncd.notes.store import NoteStore

SETTLED_SECONDS = 30.0
"""How long forgetting waits for the handoffs that are being taken in as it is asked for."""


class Acts:
    """Implements `daemon.acts.DaemonActs` over the running parts."""

    def __init__(self, parts: Parts, upkeep: Upkeep, ingest_thread: IngestThread) -> None:
        self._parts = parts
        self._upkeep = upkeep
        self._ingest_thread = ingest_thread
        self._forgetting = Forgetting(parts, partial(ingest_thread.scan_now, SETTLED_SECONDS))

    def pause(self, project: str, seconds: float | None) -> Mapping[str, Any]:
        """Pause everything, or the project of a directory."""
        answer = pause_commands.pause(self._parts.gate.pauses, self._parts.resolver.resolve, project, seconds)
        self._parts.journal.note("paused", everything=not project)
        return answer

    def resume(self, project: str) -> Mapping[str, Any]:
        """End a pause, and let go at once of what it held."""
        parts = self._parts
        answer = pause_commands.resume(parts.gate.pauses, parts.resolver.resolve, parts.served.spools(), project)
        release(parts.queue)
        self._upkeep.look_at_pauses()
        self._ingest_thread.hint()
        parts.journal.note("resumed", everything=not project)
        return answer

    def namespaces(self) -> Mapping[str, Any]:
        """Return the namespaces that have notes. Raises NoteError."""
        from memsyncd.notes import answers  # noqa: PLC0415  (as all of notes: only once somebody pins something)

        with self._notes() as notes:
            found = notes.namespaces()
            return answers.listed(found, len(found))

    def remember(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep a text as a note. Raises NoteError."""
        from memsyncd.notes import answers, arguments  # noqa: PLC0415

        ttl = arguments.ttl_seconds(request.get("ttl_seconds"))
        names = arguments.namespace(request.get("namespace")), arguments.key(request.get("key"))
        with self._notes() as notes:
            return answers.remembered(notes.remember(*names, arguments.value(request.get("value")), ttl), ttl)

    def _notes(self) -> "closing[NoteStore]":
        """For one call: people pin rarely, and the file is open in other processes as well."""
        from memsyncd.notes.store import NoteStore  # noqa: PLC0415

        return closing(NoteStore(self._parts.places.memory_file, self._parts.clock))

    def forget(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Forget what is named; without `yes` only tell what would go."""
        target = self._forgetting.target(request)
        return self._forgetting.forget(target) if request.get("yes") else self._forgetting.summary(target)
