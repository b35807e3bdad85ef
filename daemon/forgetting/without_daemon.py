"""Forgetting while no daemon runs: its parts under its lock, and nothing started."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from daemon.compose import compose
from daemon.forgetting.forgetting import Forgetting
from daemon.lock import DaemonLock
from daemon.places import Places
from daemon.private_directory import make_private
from daemon.settings import Settings


def forget(
    places: Places,
    settings: Settings,
    environ: Mapping[str, str],
    request: Mapping[str, Any],
    on_deleted: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Forget what the request names, or without its `yes` tell what would go.

    Raises AlreadyRunning where a daemon has the lock, ConfigurationError, QueueError and OSError.
    """
    with _parts_alone(places, settings, environ, on_deleted) as forgetting:
        target = forgetting.target(request)
        return forgetting.forget(target) if request.get("yes") else forgetting.summary(target)


@contextmanager
def _parts_alone(
    places: Places, settings: Settings, environ: Mapping[str, str], on_deleted: Callable[[], None]
) -> Iterator[Forgetting]:
    for directory in (places.data, places.spools):
        make_private(directory)
    held = DaemonLock.acquire(places.lock_file, pid=os.getpid(), run_id="forget")
    try:
        parts = compose(places, settings, environ)
        try:
            parts.queue.void_claims()  # of a run that was killed: nobody works on them
            parts.served.refresh(parts.findings)
            forgetting = Forgetting(parts, on_deleted=on_deleted)
            forgetting.finish()
            yield forgetting
        finally:
            parts.close()
    finally:
        held.release()
