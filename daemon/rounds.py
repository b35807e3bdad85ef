"""The daemon's rounds, every few seconds: clock and network, the upkeep, the queue's state, the watcher, the socket."""

import asyncio

import structlog

from daemon.clock_watch import ClockWatch
from daemon.compose import Parts
from daemon.intake.ingest_thread import IngestThread
from daemon.intake.watch import Watcher
from daemon.network_watch import NetworkWatch
from daemon.status_socket.http_socket import HttpSocket
from daemon.upkeep import Upkeep
from jobs.queue.errors import QueueError
from jobs.queue.workers import Workers

JUMP_TOLD_SECONDS = 600.0
"""For so long a jump of the clock is shown as a problem."""

OF_THE_NETWORK = frozenset({"offline", "not-understood", "login-page"})
"""Codes of destinations in trouble that another network, or the same one after a sleep, may end: no connection, or a
login page in place of an answer."""

log = structlog.get_logger()


class Rounds:
    """Owns the watcher. Used on the event loop; `last_at` is the monotonic time of the last round's begin.

    `is_queue_damaged` tells that nothing can be done in this run any more, and that the next begins a new queue.
    """

    def __init__(self, parts: Parts, upkeep: Upkeep, ingest_thread: IngestThread, workers: Workers) -> None:
        self._parts = parts
        self._upkeep = upkeep
        self._ingest_thread = ingest_thread
        self._workers = workers
        self._clock_watch = ClockWatch(parts.clock)
        self._network_watch = NetworkWatch()
        self._jumped_at: float | None = None
        self._to_shift: float | None = None
        self._is_to_try = False
        self._watcher: Watcher | None = None
        self.last_at = float("-inf")
        self.is_queue_damaged = False

    async def go(self, socket: HttpSocket) -> None:
        """Look at everything once."""
        self.last_at = self._parts.clock.monotonic()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.look_around)
        await loop.run_in_executor(None, self._upkeep.tick)
        self._tell("queue-unavailable", str(self._parts.places.queue_file), self._workers.fault())
        self.is_queue_damaged = await loop.run_in_executor(None, self._parts.is_queue_damaged)
        if self._upkeep.spools_changed or not self._is_watching():
            self.watch()
        if not socket.still_ours():
            self._tell("socket-foreign", str(socket.path), await socket.restart())

    def look_around(self) -> None:
        """After a sleep, on another network or under a clock that was set: go on at once with what is due."""
        self._parts.clock.look()
        gap, has_moved = self._clock_watch.look(), self._network_watch.changed()
        if gap.set:
            log.warning("clock-jumped", seconds=round(gap.set))
            self._parts.findings.report("clock-jumped", detail=f"by {gap.set:+.0f} s")
            self._jumped_at = self._parts.clock.monotonic()
        if gap.slept:
            log.info("woke-up", slept_seconds=round(gap.slept))
        if has_moved:
            log.info("network-changed")
        if gap:
            self._to_shift = gap.set + (self._to_shift or 0.0)
        if gap or has_moved:
            self._drop_connections()
        self._is_to_try |= has_moved or bool(gap.slept)
        self._go_on()
        if self._jumped_at is not None and self._parts.clock.monotonic() - self._jumped_at >= JUMP_TOLD_SECONDS:
            self._jumped_at = None
            self._parts.findings.clear("clock-jumped")

    def _go_on(self) -> None:
        """Tell the queue; where it cannot be used, again at the next round."""
        queue = self._parts.queue
        try:
            if self._to_shift is not None:
                queue.shift_clock(self._to_shift)  # a sleep moves nothing: what was due meanwhile is due now
                self._to_shift = None
                self._ingest_thread.hint()
            if self._is_to_try:
                for destination in queue.destinations():
                    if destination.code in OF_THE_NETWORK:
                        queue.release(destination.name)
                self._is_to_try = False
        except QueueError:
            return  # the workers have met it too, and `status` tells

    def _drop_connections(self) -> None:
        """Let every call begin on a new connection: the other ends have given up the old ones (never-again 148)."""
        parts = self._parts
        parts.platform.drop_connections()
        if parts.fleet is not None:
            parts.fleet.accounts.drop_connections()
        if parts.telemetry is not None:
            parts.telemetry.endpoint.drop_connections()
        if parts.model is not None:
            parts.model.drop_connections()

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
