"""What is examined: one user's memsyncd, as seen from one directory."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from daemon import lock
from daemon.configuration_error import ConfigurationError
from daemon.intake.spool import Spool
from daemon.places import Places
from daemon.settings import Loaded, Settings, load
from daemon.status.offline import spools_to_serve

NOBODY_KNOWN = -1


@dataclass(frozen=True, slots=True)
class Examination:
    """`uid` and `home` are of who asks. `faults` are the configuration's; the defaults are examined then. `owner` is
    the user id that the data directory belongs to, None while there is none, and NOBODY_KNOWN where that cannot even be
    looked at."""

    places: Places
    environ: Mapping[str, str]
    uid: int
    platform: str
    cwd: str
    wall: Callable[[], float]
    monotonic: Callable[[], float]
    settings: Settings
    loaded: Loaded | None = None
    faults: Sequence[str] = ()
    spools: Sequence[Spool] = field(default=())
    owner: int | None = None
    is_held: bool = False

    @property
    def home(self) -> Path:
        """The user's."""
        return self.places.home

    @property
    def is_another_s(self) -> bool:
        """Whether the data directory is another user's: nothing in it is opened then, not even by root, whose files
        the daemon could not use."""
        return self.owner is not None and self.owner != self.uid


def examination(
    places: Places,
    environ: Mapping[str, str],
    *,
    uid: int,
    platform: str,
    cwd: str,
    wall: Callable[[], float],
    monotonic: Callable[[], float],
) -> Examination:
    """Look once at what several checks need. Raises nothing for what is missing or wrong."""
    loaded: Loaded | None = None
    faults: Sequence[str] = ()
    try:
        loaded = load(places, environ, {})
    except ConfigurationError as error:
        faults = error.sentences
    except OSError as error:
        faults = [f"{places.config_file} cannot be read: {error.strerror}."]
    settings = loaded.settings if loaded else Settings()
    return Examination(
        places=places,
        environ=environ,
        uid=uid,
        platform=platform,
        cwd=cwd,
        wall=wall,
        monotonic=monotonic,
        settings=settings,
        loaded=loaded,
        faults=faults,
        spools=spools_to_serve(places, settings),
        owner=_owner(places.data),
        is_held=lock.is_held(places.lock_file),
    )


def _owner(path: Path) -> int | None:
    try:
        return os.stat(path).st_uid
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return NOBODY_KNOWN
