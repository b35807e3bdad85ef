"""The daemon's start: its lock, its parts, one run; and after a reload the next run, in the same process."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
import uuid
from collections.abc import Callable, Mapping

from daemon import heap, logs
from daemon.app import Daemon, stop_signals
from daemon.compose import compose
from daemon.configuration_error import ConfigurationError
from daemon.lock import DaemonLock
from daemon.notify import Manager, Notifier, inherited_socket
from daemon.places import Places
from daemon.private_directory import make_private
from daemon.settings import Settings
from daemon.status.live import LiveView
from daemon.telemetry.starting import sampled

FAILED = 1
"""Exit code (CONTRACT: Commands); a service manager starts a new process on it."""


def run(
    places: Places,
    settings: Settings,
    environ: Mapping[str, str],
    *,
    once: bool = False,
    on_ready: Callable[[], None] = lambda: None,
    on_done: Callable[[str], None] = lambda _: None,
    manager: Manager | None = None,
    reread: Callable[[], Settings] | None = None,
    on_look: Callable[[LiveView], None] = lambda _: None,
) -> int:
    """Run the daemon until a signal, or with `once` until all that is due is done or put off; return the exit code.

    Raises ConfigurationError (78) and AlreadyRunning (4). `on_ready` is called after the first reconcile, `on_done` at
    the end of a `once` with a sentence on what was done, and `on_look` often before. `manager` is the service manager,
    systemd's notification socket if none is given; on its SIGHUP everything is made anew from what `reread` returns, or
    from the settings before it where nothing can be made of these.
    """
    heap.share_one_arena()
    manager = manager or Notifier.from_environ(environ, os.getpid())
    asked_to_stop = threading.Event()
    _await_signals(asked_to_stop, manager)
    lifecycle = sampled(places, settings)
    for directory in (places.data, places.spools, places.runtime):
        make_private(directory)
    run_id = uuid.uuid4().hex[:12]
    inherited = inherited_socket(environ, os.getpid())
    socket_path = inherited.getsockname() if inherited else str(places.status_socket)
    lock = DaemonLock.acquire(places.lock_file, pid=os.getpid(), run_id=run_id, socket=socket_path)
    try:
        wanted: Settings | None = settings
        before = refused = None
        while wanted is not None:
            with contextlib.ExitStack() as start:
                start.enter_context(manager.starting())
                try:
                    parts = compose(places, wanted, environ, lifecycle)
                except ConfigurationError as error:
                    if before is None:
                        raise
                    wanted, before, refused = before, None, str(error)
                    continue
                logs.setup(
                    wanted.log.level, wanted.log.format, stream=sys.stderr, clock=parts.clock, counters=parts.counters
                )
                daemon = Daemon(
                    places, parts, run_id, on_ready, on_done, lock, asked_to_stop, manager, reread, inherited, on_look
                )
                daemon.start = start
                if refused is not None:  # the settings before it are in effect again
                    daemon.tell_refused(refused)
                before, refused = wanted, None
                code = asyncio.run(daemon.serve(once=once))
            if not daemon.is_over:
                # a call that did not end in time must not keep the process: its claim was given back already. Where
                # it stood in the way of a reload, the manager starts a new one
                os._exit(code if daemon.reread_settings is None else FAILED)
            wanted = daemon.reread_settings if code == 0 else None
            _await_signals(asked_to_stop, manager)  # the event loop gave its own back
        return code
    finally:
        lock.release()


def _await_signals(asked_to_stop: threading.Event, manager: Manager) -> None:
    for number in stop_signals():
        signal.signal(number, lambda *_: asked_to_stop.set())
    if manager.can_reload:
        signal.signal(signal.SIGHUP, lambda *_: None)  # the settings are being read at this moment
