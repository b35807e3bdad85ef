"""What people ask the running daemon to do: pause, resume, forget."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from daemon import pause_commands
from daemon.compose import Parts
from daemon.forgetting.forgetting import Forgetting
from daemon.intake.ingest_thread import IngestThread
from daemon.pause_watch import release
from daemon.upkeep import Upkeep

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

    def forget(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Forget what is named; without `yes` only tell what would go."""
        target = self._forgetting.target(request)
        return self._forgetting.forget(target) if request.get("yes") else self._forgetting.summary(target)
