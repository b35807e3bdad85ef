"""The daemon's life: start, serve, stop. Every thread has an owner here; if one dies, the daemon ends with its name."""

import asyncio
import contextlib
import os
import signal
import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from daemon import logs
from daemon.clock_watch import ClockWatch
from daemon.compose import Parts, compose
from daemon.intake.ingest_thread import IngestThread
from daemon.intake.nudge import Nudge
from daemon.intake.watch import Watcher
from daemon.lock import DaemonLock
from daemon.observer import Observer
from daemon.places import Places
from daemon.private_directory import make_private
from daemon.settings import Settings
from daemon.status.live import LiveView
from daemon.status.report import Phase
from daemon.status_socket.http_socket import HttpSocket
from daemon.status_socket.routes import routes
from daemon.upkeep import Upkeep
from jobs.poll import poll_job
from jobs.queue.workers import Workers
from jobs.recovery import resume_extractions

STOP_SECONDS = 3.0
"""What running jobs get to end in after SIGTERM; with the rest the daemon is gone within 5 s (issue item 7)."""

TICK_SECONDS = 5.0
"""How often the upkeep looks: ended sessions, a changed key, a jumped clock, dead threads."""

ONCE_LOOK_SECONDS = 0.1

log = structlog.get_logger()


def run(
    places: Places,
    settings: Settings,
    environ: Mapping[str, str],
    *,
    once: bool = False,
    on_ready: Callable[[], None] = lambda: None,
) -> int:
    """Run the daemon until a signal, or with `once` until all that is due is done or put off; return the exit code.

    Raises ConfigurationError (78) and AlreadyRunning (4). `on_ready` is called after the first reconcile.
    """
    for directory in (places.data, places.spools, places.runtime):
        make_private(directory)
    run_id = uuid.uuid4().hex[:12]
    lock = DaemonLock.acquire(places.lock_file, pid=os.getpid(), run_id=run_id, socket=str(places.status_socket))
    try:
        parts = compose(places, settings, environ)
        logs.setup(
            settings.log.level, settings.log.format, stream=sys.stderr, clock=parts.clock, counters=parts.counters
        )
        daemon = Daemon(places, parts, run_id, on_ready)
        code = asyncio.run(daemon.serve(once=once))
        if not daemon.is_over:
            # a call that did not end in time must not keep the process: its claim was given back already
            os._exit(code)
        return code
    finally:
        lock.release()


@dataclass
class Daemon:
    """One run. `is_over` tells that no thread of it is left."""

    places: Places
    parts: Parts
    run_id: str
    on_ready: Callable[[], None]
    is_over: bool = False
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _died: str = ""

    def __post_init__(self) -> None:
        parts = self.parts
        self.upkeep = Upkeep(parts)
        self.ingest_thread = IngestThread(
            parts.ingest, self.upkeep.maintain, self.upkeep.has_new_spools, self.upkeep.refresh
        )
        self.observer = Observer(parts)
        self.workers = Workers(
            parts.queue,
            parts.handlers,
            parts.settings.queue.workers,
            clock=parts.clock,
            counters=parts.counters,
            on_start=self.observer.started,
            on_finish=self.observer.finished,
        )
        self.view = LiveView(
            parts,
            self.ingest_thread,
            self.workers,
            run_id=self.run_id,
            started_at=parts.clock.wall(),
            started_monotonic=parts.clock.monotonic(),
        )
        self.observer.on_progress = self.view.progressed
        if self.places.socket_is_shortened:
            parts.findings.report("socket-elsewhere", str(self.places.status_socket))
        self.watcher: Watcher | None = None
        self.clock_watch = ClockWatch(parts.clock)

    async def serve(self, *, once: bool) -> int:
        """Start everything, wait for the end, stop everything."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._stopping.set)
        nudge = Nudge(self.places.nudge)
        answers = routes(self.view)
        socket = HttpSocket(self.places.status_socket, answers, counters=self.parts.counters)
        try:
            await socket.start()
        except BaseException:
            self.parts.close()
            nudge.close()
            raise
        try:
            self._start()
            loop.add_reader(nudge.descriptor, self._nudged, nudge)
            await self._until_scanned()
            self.view.phase = Phase.RUNNING
            self._watch()
            log.info("ready", run_id=self.run_id, spools=len(self.parts.served.spools()))
            self.on_ready()
            await (self._until_all_done() if once else self._until_stopped(socket))
        finally:
            self.view.phase = Phase.STOPPING
            loop.remove_reader(nudge.descriptor)
            nudge.close()
            await loop.run_in_executor(None, self._stop)
            await socket.stop()
            answers.close()
        if self._died:
            log.error("thread-died", thread=self._died)
            return 1
        return 1 if once and self.observer.gave_up else 0

    def _start(self) -> None:
        voided = self.parts.queue.void_claims()
        if voided:
            log.info("claims-given-back", jobs=voided)
        self.parts.queue.enqueue(poll_job(self.parts.platform.destination))
        self.upkeep.take_back_claims(at_start=True)
        resume_extractions(self.parts.delivery)
        self.workers.start()
        self.ingest_thread.start()

    def _nudged(self, nudge: Nudge) -> None:
        nudge.drain()
        self.ingest_thread.hint()

    async def _until_scanned(self) -> None:
        loop = asyncio.get_running_loop()
        while not await loop.run_in_executor(None, self.ingest_thread.scanned.wait, ONCE_LOOK_SECONDS):
            if self._stopping.is_set() or self._dead_thread():
                return

    async def _until_stopped(self, socket: HttpSocket) -> None:
        while not self._stopping.is_set():
            self._died = self._dead_thread()
            if self._died:
                return
            await self._tick(socket)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), TICK_SECONDS)

    async def _until_all_done(self) -> None:
        while not self._stopping.is_set():
            self._died = self._dead_thread()
            if self._died or (not self.ingest_thread.hinted.is_set() and self.upkeep.is_all_done()):
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), ONCE_LOOK_SECONDS)

    async def _tick(self, socket: HttpSocket) -> None:
        moved = self.clock_watch.jumped()
        if moved:
            log.warning("clock-jumped", seconds=round(moved))
            self.parts.queue.shift_clock(moved)
            self.parts.platform.drop_connections()  # a jump forward may have been a sleep (never-again 148)
            self.ingest_thread.hint()
        await asyncio.get_running_loop().run_in_executor(None, self.upkeep.tick)
        if self.upkeep.spools_changed or (self.watcher is not None and self.watcher.failure):
            self._watch()
        if not socket.still_ours():
            told = await socket.restart()
            if told:
                self.parts.findings.report("socket-foreign", str(socket.path), told)
            else:
                self.parts.findings.clear("socket-foreign", str(socket.path))

    def _watch(self) -> None:
        """Watch the present set of directories; where that fails the timed scan goes on and `status` says so."""
        self.upkeep.spools_changed = False
        if self.watcher is not None:
            self.watcher.stop()
        try:
            self.watcher = Watcher(self.upkeep.directories(), self.ingest_thread.hint)
            self.watcher.start()
            self.parts.findings.clear("watcher-polling")
        except (OSError, RuntimeError) as error:
            self.watcher = None
            self.parts.findings.report("watcher-polling", detail=str(error))
        self.ingest_thread.hint()

    def _dead_thread(self) -> str:
        if not self.ingest_thread.thread.is_alive():
            return f"ingest: {self.ingest_thread.failure!r}"
        return ", ".join(self.workers.dead_threads())

    def _stop(self) -> None:
        """No new claims, calls cancelled, claims released, spools given back (issue item 7)."""
        self.parts.platform.cancel()
        self.parts.key_source.close()
        ended = [
            self.ingest_thread.stop(STOP_SECONDS) if self.ingest_thread.thread.ident else True,
            self.workers.stop(STOP_SECONDS),
        ]
        if self.watcher is not None:
            self.watcher.stop()
        self.parts.ingest.requests.give_back()
        self.is_over = all(ended)
        if self.is_over:
            self.parts.close()
        log.info("stopped", run_id=self.run_id, clean=self.is_over)
