"""One run of the daemon: serve and stop. Every thread has an owner here; if one dies, the daemon ends with its name."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from daemon.acting import Acts
from daemon.compose import Parts
from daemon.configuration_error import ConfigurationError
from daemon.heartbeat import Heartbeat
from daemon.intake.ingest_thread import IngestThread
from daemon.intake.nudge import Nudge
from daemon.lock import DaemonLock
from daemon.notify import ListeningSocket, Manager, Notifier
from daemon.observer import Observer
from daemon.once_summary import has_failed, summary
from daemon.places import Places
from daemon.rounds import Rounds
from daemon.settings import Settings
from daemon.status.live import LiveView
from daemon.status.report import Phase
from daemon.status_socket.http_socket import HttpSocket
from daemon.status_socket.routes import routes
from daemon.upkeep import Upkeep
from jobs.queue.errors import QueueDamaged
from jobs.queue.workers import Workers
from jobs.recovery import resume_extractions
from memsyncd import turn

STOP_SECONDS = 3.0
"""What running jobs get to end in after SIGTERM; with the rest the daemon is gone within 5 s (issue item 7)."""

TICK_SECONDS = 5.0
"""How often the daemon makes its rounds, and looks for dead threads and for its lock."""

ONCE_LOOK_SECONDS = 0.1

ONCE_SCAN_SECONDS = 2.0
"""How long `run --once` waits at a time for a scan that shows that nothing is left; a stop may have to wait for it."""

log = structlog.get_logger()


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return what stops the daemon: a hang-up too, but not where it is ignored, as under nohup."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *(() if is_ignored else (signal.SIGHUP,)))


@dataclass
class Daemon:
    """One run. `is_over` tells that no thread of it is left; `asked_to_stop` that a signal came before `serve`.

    `on_look` is called often while a `once` waits for the end of its work.
    """

    places: Places
    parts: Parts
    run_id: str
    on_ready: Callable[[], None]
    on_done: Callable[[str], None]
    lock: DaemonLock
    asked_to_stop: threading.Event
    manager: Manager = field(default_factory=Notifier)
    reread: Callable[[], Settings] | None = None
    inherited: ListeningSocket | None = None
    on_look: Callable[[LiveView], None] = lambda _: None
    start: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    is_over: bool = False
    reread_settings: Settings | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _died: str = ""
    _lost: str = ""

    def __post_init__(self) -> None:
        parts = self.parts
        self.upkeep = Upkeep(parts)
        self.ingest_thread = IngestThread(
            parts.ingest, self.upkeep.maintain, self.upkeep.has_new_spools, self.upkeep.refresh
        )
        self.upkeep.on_released = self.ingest_thread.hint
        self.observer = Observer(parts)
        self.workers = Workers(
            parts.queue,
            parts.handlers,
            parts.settings.queue.workers + (parts.telemetry is not None),  # whose one job takes nobody's place
            clock=parts.clock,
            counters=parts.counters,
            on_start=self.observer.started,
            on_finish=self.observer.finished,
            in_turn=turn.taken,
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
        if parts.fleet is not None:
            parts.fleet.on_start, parts.fleet.on_finish = self.observer.started, self.observer.finished
        self.heartbeat = Heartbeat(self.manager, self.view.status, parts.clock.monotonic)
        if self.places.socket_is_shortened:
            parts.findings.report("socket-elsewhere", str(self.places.status_socket))
        self.rounds = Rounds(parts, self.upkeep, self.ingest_thread, self.workers)

    async def serve(self, *, once: bool) -> int:
        """Start everything, wait for the end, stop everything."""
        loop = asyncio.get_running_loop()
        for number in stop_signals():
            loop.add_signal_handler(number, self._stop_asked)
        if self.manager.can_reload and self.reread is not None:
            loop.add_signal_handler(signal.SIGHUP, self._reload_asked)
        if self.asked_to_stop.is_set():
            self._stop_asked()
        nudge = Nudge(self.places.nudge)
        answers = routes(self.view, Acts(self.parts, self.upkeep, self.ingest_thread))
        socket = HttpSocket(self.places.status_socket, answers, counters=self.parts.counters, inherited=self.inherited)
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
            if not self._is_ending():
                await loop.run_in_executor(None, self.upkeep.age_sessions)
                self.view.phase = Phase.RUNNING
                self.rounds.watch()
                log.info("ready", run_id=self.run_id, spools=len(self.parts.served.spools()))
                self.start.close()
                self.manager.ready()
                self.on_ready()
            await (self._until_all_done(socket) if once else self._until_stopped(socket))
            if once and self.reread_settings is None:  # else the next run comes to the end of it
                await loop.run_in_executor(None, self.upkeep.log_kept_copies)
                self.on_done(summary(self.parts, self.observer.given_up))
        finally:
            self.view.phase = Phase.STOPPING
            self.start.close()
            if self.reread_settings is None:
                self.manager.stopping()
            loop.remove_reader(nudge.descriptor)
            nudge.close()
            await loop.run_in_executor(None, self._stop)
            await socket.stop()
            answers.close()
        if self._died:
            log.error("thread-died", thread=self._died)
            return 1
        if self._lost:
            log.error("lock-lost", why=self._lost)
            return 1
        return 1 if once and has_failed(self.parts, self.observer.given_up) else 0

    def _start(self) -> None:
        voided = self.parts.queue.void_claims()
        if voided:
            log.info("claims-given-back", jobs=voided)
        self.upkeep.start()
        resume_extractions(self.parts.delivery)
        self.workers.start()
        self.ingest_thread.start()
        if self.parts.fleet is not None:
            self.parts.fleet.start(self.parts.queue)

    def _nudged(self, nudge: Nudge) -> None:
        nudge.drain()
        self.ingest_thread.hint()

    async def _until_scanned(self) -> None:
        loop = asyncio.get_running_loop()
        while not await loop.run_in_executor(None, self.ingest_thread.scanned.wait, ONCE_LOOK_SECONDS):
            if self._is_ending():
                return

    def _stop_asked(self) -> None:
        """End for good, also where a reload has just been asked for."""
        self.reread_settings = None
        self._end()

    def _end(self) -> None:
        """On the signal itself: a command that is asked for the key would hold up what waits for its end."""
        self._stopping.set()
        self.parts.key_source.close()

    def tell_refused(self, why: str) -> None:
        """Say that the settings are wrong, and that those before them are in effect."""
        log.warning("reload-refused", error=why)
        self.parts.findings.report("config-wrong", str(self.places.config_file), why)

    def _reload_asked(self) -> None:
        """End this run for one with the settings as they are now; wrong ones are told, and the run goes on."""
        assert self.reread is not None
        if self._stopping.is_set() and self.reread_settings is None:
            return  # of two signals that wait, the later one may come first
        try:
            self.reread_settings = self.reread()
        except ConfigurationError as error:
            self.tell_refused(str(error))
            return
        log.info("reload", run_id=self.run_id)
        self.manager.reloading()
        self._end()

    def _is_ending(self) -> bool:
        """Whether the run is over: it was told to stop, a thread died, or the lock protects it no more."""
        self._died = self._died or self._dead_thread()
        self._lost = self._lost or self.lock.lost()
        return bool(self._stopping.is_set() or self._died or self._lost)

    async def _until_stopped(self, socket: HttpSocket) -> None:
        while not self._is_ending():
            await self._round(socket)
            await self.heartbeat.beat()
            await self._pause(min(TICK_SECONDS, self.heartbeat.seconds))

    async def _until_all_done(self, socket: HttpSocket) -> None:
        while not self._is_ending():
            self.on_look(self.view)
            if self.parts.clock.monotonic() - self.rounds.last_at >= TICK_SECONDS:
                await self._round(socket)
            try:
                if self._is_all_done() and await self._is_scanned_anew() and self._is_all_done():
                    return
            except QueueDamaged:
                await self._round(socket)
                if self.reread_settings is None:  # the disk does not give it, so nothing is begun anew
                    raise
            await self._pause(ONCE_LOOK_SECONDS)

    async def _round(self, socket: HttpSocket) -> None:
        await self.rounds.go(socket)
        if self.rounds.is_queue_damaged and not self._stopping.is_set():
            log.error("queue-damaged", run_id=self.run_id, file=str(self.places.queue_file))
            self.reread_settings = self.parts.settings  # the next run sets it aside and queues anew what is on disk
            self._end()

    def _is_all_done(self) -> bool:
        return not self.ingest_thread.hinted.is_set() and self.upkeep.is_all_done(self.workers.running)

    async def _is_scanned_anew(self) -> bool:
        """Wait for a whole scan: while one is under way, what it has taken in may have no job yet."""
        return await asyncio.get_running_loop().run_in_executor(None, self.ingest_thread.scan_now, ONCE_SCAN_SECONDS)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _dead_thread(self) -> str:
        if not self.ingest_thread.thread.is_alive():
            return f"ingest: {self.ingest_thread.failure!r}"
        fleet = self.parts.fleet
        return ", ".join([*self.workers.dead_threads(), *(fleet.dead_threads() if fleet else ())])

    def _stop(self) -> None:
        """No new claims, calls cancelled, claims released, spools given back (issue item 7)."""
        self.parts.platform.cancel()
        if self.parts.fleet is not None:
            self.parts.fleet.cancel()
        if self.parts.telemetry is not None:
            self.parts.telemetry.cancel()
        if self.parts.model is not None:
            self.parts.model.cancel()
        self.parts.key_source.close()
        deadline = self.parts.clock.monotonic() + STOP_SECONDS
        if is_scanning := self.ingest_thread.thread.ident is not None:
            self.ingest_thread.stop(0.0)
        ended = [self.workers.stop(STOP_SECONDS)]
        if self.parts.fleet is not None:
            ended.append(self.parts.fleet.stop(max(0.0, deadline - self.parts.clock.monotonic())))
        if is_scanning:
            ended.append(self.ingest_thread.stop(max(0.0, deadline - self.parts.clock.monotonic())))
        self.rounds.stop()
        self.parts.ingest.requests.give_back()
        self.is_over = all(ended)
        if self.is_over:
            self.parts.close()
        log.info("stopped", run_id=self.run_id, clean=self.is_over)
