"""The daemon's rounds, every few seconds: the clock, the upkeep, the queue's state, the watcher, the socket."""

import asyncio

import structlog

from daemon.clock_watch import ClockWatch
from daemon.compose import Parts
from daemon.intake.ingest_thread import IngestThread
from daemon.intake.watch import Watcher
from daemon.status_socket.http_socket import HttpSocket
from daemon.upkeep import Upkeep
from jobs.queue.workers import Workers

JUMP_TOLD_SECONDS = 600.0
"""For so long a jump of the clock is shown as a problem."""

log = structlog.get_logger()


class Rounds:
    """Owns the watcher. Used on the event loop; `last_at` is the monotonic time of the last round's begin."""

    def __init__(self, parts: Parts, upkeep: Upkeep, ingest_thread: IngestThread, workers: Workers) -> None:
        self._parts = parts
        self._upkeep = upkeep
        self._ingest_thread = ingest_thread
        self._workers = workers
        self._clock_watch = ClockWatch(parts.clock)
        self._jumped_at: float | None = None
        self._watcher: Watcher | None = None
        self.last_at = float("-inf")

    async def go(self, socket: HttpSocket) -> None:
        """Look at everything once."""
        self.last_at = self._parts.clock.monotonic()
        self.look_at_clock()
        await asyncio.get_running_loop().run_in_executor(None, self._upkeep.tick)
        self._tell("queue-unavailable", str(self._parts.places.queue_file), self._workers.fault())
        if self._upkeep.spools_changed or not self._is_watching():
            self.watch()
        if not socket.still_ours():
            self._tell("socket-foreign", str(socket.path), await socket.restart())

    def look_at_clock(self) -> None:
        """Move what waits along where the clock jumped, and show the jump for a while."""
        parts, now = self._parts, self._parts.clock.monotonic()
        moved = self._clock_watch.jumped()
        if moved:
            log.warning("clock-jumped", seconds=round(moved))
            self._jumped_at = now
            parts.findings.report("clock-jumped", detail=f"by {moved:+.0f} s")
            parts.queue.shift_clock(moved)
            parts.platform.drop_connections()  # a jump forward may have been a sleep (never-again 148)
            if parts.telemetry is not None:
                parts.telemetry.endpoint.drop_connections()
            if parts.model is not None:
                parts.model.drop_connections()
            self._ingest_thread.hint()
        elif self._jumped_at is not None and now - self._jumped_at >= JUMP_TOLD_SECONDS:
            self._jumped_at = None
            parts.findings.clear("clock-jumped")

    def watch(self) -> None:
        """Watch the present set of directories. Where that fails the timed scan goes on, `status` says so, and the
        next round tries again."""
        self._upkeep.spools_changed = False
        self.stop()
        try:
            watcher = Watcher(self._upkeep.directories(), self._ingest_thread.hint)
            watcher.start()
        except (OSError, RuntimeError) as error:
            self._parts.findings.report("watcher-polling", detail=str(error))
        else:
            self._watcher = watcher
            self._parts.findings.clear("watcher-polling")
            self._ingest_thread.hint()  # of what came before it looked

    def stop(self) -> None:
        """End the watch."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    def _is_watching(self) -> bool:
        """Whether the watcher lives; one that died is shown until another is in its place."""
        watcher = self._watcher
        if watcher is not None and watcher.thread.is_alive() and not watcher.failure:
            return True
        if watcher is not None:
            self._parts.findings.report("watcher-polling", detail=watcher.failure)
        return False

    def _tell(self, code: str, where: str, why: str) -> None:
        if why:
            self._parts.findings.report(code, where, why)
        else:
            self._parts.findings.clear(code, where)
