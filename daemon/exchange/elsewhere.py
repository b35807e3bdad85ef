"""The memories of a platform elsewhere as rows of an export: a person's own, and those shared in the projects that
sessions of this machine wrote into. No platform lists all projects by itself."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, cast

from daemon.api_key.source import KeySource
from daemon.chosen_platform import platform_of, whose_memories
from daemon.exchange.lanes import Known, known_lanes
from daemon.places import Places
from daemon.settings import Settings
from memsyncd.clock import Clock
from memsyncd.platforms.local.exchange import ROW_TYPE
from memsyncd.platforms.owned import ListingCut, Lists, OwnedMemory, Owner

ALL_PAGES = 100_000


@dataclass
class Elsewhere:
    """One export. While `rows` is read, `known` tells the projects, `own` and `shared` count the memories, and `is_cut`
    tells that the platform lists only a part of what it has."""

    places: Places
    settings: Settings
    environ: Mapping[str, str]
    known: Known = field(default_factory=Known)
    own: int = 0
    shared: int = 0
    is_cut: bool = False
    _seen: set[str] = field(default_factory=set)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each memory once. Raises PlatformError."""
        clock = Clock()
        keys = KeySource.from_settings(self.settings, self.environ, clock)
        with closing(platform_of(self.places, self.settings, keys, clock)) as platform:
            self.known = known_lanes(self.places, self.settings, platform.destination)
            lists = cast("Lists", platform)  # every platform elsewhere lists
            for memory in self._listed(lists, Owner(user_id=whose_memories(self.settings, self.environ))):
                self.own += 1
                yield _row(memory)
            for lane in self.known.lanes:
                for memory in self._listed(lists, Owner(project_id=lane.agent_id, app_id=lane.app_id)):
                    if memory.app_id in ("", lane.app_id):  # a platform that cannot narrow by the app
                        self.shared += 1
                        yield _row(memory)

    def _listed(self, lists: Lists, owner: Owner) -> Iterator[OwnedMemory]:
        """Yield an owner's memories; of one who has more than is listed, also those of each session known here."""
        try:
            yield from self._new(lists.memories_of(owner, pages=ALL_PAGES))
        except ListingCut:
            self.is_cut = True
            for session in self.known.sessions:
                yield from self._of_session(lists, replace(owner, run_id=session))

    def _of_session(self, lists: Lists, owner: Owner) -> Iterator[OwnedMemory]:
        try:
            yield from self._new(lists.memories_of(owner, pages=ALL_PAGES))
        except ListingCut:
            self.is_cut = True

    def _new(self, pages: Iterator[Sequence[OwnedMemory]]) -> Iterator[OwnedMemory]:
        for page in pages:
            for memory in page:
                if memory.id not in self._seen:
                    self._seen.add(memory.id)
                    yield memory


def _row(memory: OwnedMemory) -> dict[str, Any]:
    return {
        "type": ROW_TYPE,
        "id": memory.id,
        "memory": memory.memory,
        "category": memory.categories[0] if memory.categories else "",
        "user_id": memory.user_id,
        "app_id": memory.app_id,
        "agent_id": memory.agent_id,
        "run_id": memory.run_id,
        "metadata": dict(memory.metadata),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }
