"""The spools this daemon serves, and the evidence store of each: its own, those of the config, those of plugins."""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.intake import spool_codes, spool_trouble
from daemon.intake.spool import Spool
from daemon.status.findings import Findings
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence.errors import NewerSchema
from memsyncd.evidence.store import EvidenceStore

PLUGIN_SUFFIX = "-plugin"
"""Existing plugins keep their data in `~/.mem0/<harness>-plugin` (facts 15.1)."""


@dataclass(frozen=True, slots=True)
class Place:
    """A directory to serve. `own` tells this daemon's spools, where nobody else claims."""

    path: Path
    harness: str
    own: bool


class Served:
    """Finds spools and opens their stores. `place_list` is asked again at every refresh, for hooks make new spools."""

    def __init__(
        self,
        place_list: Callable[[], Sequence[Place]],
        clock: Clock,
        counters: Counters,
        project_id_of: Callable[[str, str], str],
    ) -> None:
        self._place_list = place_list
        self._clock = clock
        self._counters = counters
        self._project_id_of = project_id_of
        self._lock = threading.Lock()
        self._spools: dict[str, Spool] = {}
        self._stores: dict[str, EvidenceStore] = {}
        self._pending: dict[str, int | None] = {}

    def refresh(self, findings: Findings) -> list[Spool]:
        """Serve what is new and open what could not be opened before; return the spools served from now on.

        A spool that was deleted is served no more, and one that was deleted and made again is new.
        """
        new = []
        for spool in self.spools():
            if not os.path.isdir(spool.path) and not os.path.lexists(spool.path):
                self._drop(spool, findings)
        for place in self._place_list():
            spool = Spool(place.path, place.harness, own=place.own)
            with self._lock:
                known = spool.name in self._spools
            if not known or not _is_same(self._pending[spool.name], spool.pending):
                if not self._prepare(spool, findings):
                    continue
                with self._lock:
                    self._spools[spool.name] = spool
                    _let_go(self._pending.get(spool.name))
                    self._pending[spool.name] = _opened(spool.pending)
                new.append(spool)
            with self._lock:
                store = self._stores.get(spool.name)
            if store is None:
                self._open(spool, findings)
            else:
                _tell(store, spool, findings)
        return new

    def spools(self) -> Sequence[Spool]:
        """Return the spools served, in the order of their names."""
        with self._lock:
            return [self._spools[name] for name in sorted(self._spools)]

    def spool(self, name: str) -> Spool:
        """Return one; raises KeyError where it is not served."""
        with self._lock:
            return self._spools[name]

    def store(self, name: str) -> EvidenceStore:
        """Return a spool's evidence store; raises KeyError while it cannot be opened."""
        with self._lock:
            return self._stores[name]

    def stores(self) -> Sequence[tuple[Spool, EvidenceStore]]:
        """Return every spool whose store is open."""
        with self._lock:
            return [(self._spools[name], store) for name, store in sorted(self._stores.items())]

    def close(self) -> None:
        """Close every store."""
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()
            for descriptor in self._pending.values():
                _let_go(descriptor)
            self._pending = dict.fromkeys(self._pending)

    def _drop(self, spool: Spool, findings: Findings) -> None:
        with self._lock:
            del self._spools[spool.name]
            _let_go(self._pending.pop(spool.name))
            store = self._stores.pop(spool.name, None)
        if store is not None:
            store.close()
        for code in (*_CODES, *spool_codes.CODES, "newer-evidence"):
            findings.clear(code, str(spool.path))
        for finding in findings.all():
            if finding.code == "upkeep-failed" and finding.where.endswith(f" {spool.name}"):
                findings.clear(finding.code, finding.where)

    def _prepare(self, spool: Spool, findings: Findings) -> bool:
        try:
            spool.prepare()
            if spool.own:
                os.listdir(spool.pending)
        except OSError as error:
            spool_trouble.tell(findings, spool.path, error, otherwise=spool_codes.UNREADABLE)
            return False
        spool_trouble.over(findings, spool.path)
        return True

    def _open(self, spool: Spool, findings: Findings) -> None:
        where = str(spool.path)
        is_new = not spool.evidence.exists()
        if is_new and not spool.own and spool.path.name.endswith(PLUGIN_SUFFIX):
            return  # a plugin makes its own store; until then there is nothing to deliver
        try:
            store = EvidenceStore.open(
                spool.evidence,
                own=spool.own or is_new,
                clock=self._clock,
                project_id_of=self._project_id_of,
                counters=self._counters,
            )
        except NewerSchema as error:
            findings.report("newer-evidence", where, str(error))
            return
        except (OSError, sqlite3.Error) as error:
            spool_trouble.tell(findings, spool.path, error, otherwise=spool_codes.UNREADABLE)
            return
        findings.clear("newer-evidence", where)
        spool_trouble.over(findings, spool.path)
        _tell(store, spool, findings)
        with self._lock:
            self._stores[spool.name] = store


_CODES = ("evidence-read-only", "evidence-replaced")


def _tell(store: EvidenceStore, spool: Spool, findings: Findings) -> None:
    """Show what is wrong with a store at present: its owner may change its form while it is served. Of one that was
    damaged the copy beside it tells."""
    found = _CODES[0] if store.problem and store.read_only else _CODES[1] if store.was_replaced else ""
    for code in _CODES:
        if code == found:
            findings.report(code, str(spool.path), store.problem)
        else:
            findings.clear(code, str(spool.path))


def _opened(directory: Path) -> int | None:
    """Return a descriptor of a directory, None where it is not there. While it is open no other directory can get the
    number by which it is known, as one made anew in its place would."""
    try:
        return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None


def _is_same(descriptor: int | None, directory: Path) -> bool:
    """Whether the directory is still the one that was opened; none is the same as none."""
    try:
        found = directory.stat()
    except OSError:
        return descriptor is None
    return descriptor is not None and os.path.samestat(os.fstat(descriptor), found)


def _let_go(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)


def places_to_serve(
    spools: Path, configured: Sequence[tuple[Path, str]], home: Path, *, discover: bool
) -> Sequence[Place]:
    """Return the directories to serve: ours, the configured ones, and with `discover` those of existing plugins."""
    found: dict[str, Place] = {}

    def add(place: Place) -> None:
        found.setdefault(os.path.realpath(place.path), place)

    for directory in _directories(spools):
        add(Place(directory, directory.name, own=True))
    for path, harness in configured:
        add(Place(path, harness, own=False))
    if discover:
        for directory in _directories(home / ".mem0"):
            if directory.name.endswith(PLUGIN_SUFFIX):
                add(Place(directory, directory.name.removesuffix(PLUGIN_SUFFIX), own=False))
    return list(found.values())


def _directories(parent: Path) -> list[Path]:
    try:
        with os.scandir(parent) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_dir())
    except OSError:
        return []
