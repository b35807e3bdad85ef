"""Whose memories of a platform elsewhere an export lists, against the fakes, over real sockets."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from daemon.exchange.exporting import ExportFailed, export_to
from daemon.places import resolve
from daemon.settings import load
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.local.local_index import LocalIndex
from memsyncd.platforms.local.mirror import Asker
from memsyncd.platforms.platform import Batch, Memory, Message, Platform
from memsyncd.scope.remote import project_id
from tests.fakes.mem0_api import KEY
from tests.fakes.mem0_server import SERVER_KEY
from tests.memsyncd.platforms.grounds import hosted, self_hosted

SHOP = Scope(
    "https://git.example.org/team/shop", "team-shop", project_id("team-shop", "https://git.example.org/team/shop")
)
LOCAL = Scope("local:/w/plans", "plans", project_id("plans", "local:/w/plans"))


class Ground:
    """A machine, and a platform on which several people remember."""

    def __init__(self, root: Path, kind: str, url: str, key: str, platform: Platform) -> None:
        self.root = root
        self.platform = platform
        self.destination = f"{kind} {url}"
        self.environ = {
            "MEMSYNCD_HOME": str(root / "m"), "HOME": str(root), "USER": "ada", "MEM0_API_KEY": key,
            "MEMSYNCD_PLATFORM_KIND": kind, "MEMSYNCD_PLATFORM_URL": url,
        }  # fmt: skip
        self.places = resolve(self.environ, root, os.getuid(), "linux")
        self.places.data.mkdir(mode=0o700)
        self._told = 0

    def worked_on(self, scope: Scope, session: str = "s1", harness: str = "claude-code") -> Path:
        """Let a session of this machine have been in a project; return its evidence."""
        path = self.places.spools / harness / "evidence.sqlite3"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = EvidenceStore.open(path, own=True, clock=Clock())
        store.append([NewEvent(session, "user_prompt", {}, "2026-11-30T10:00:00.000Z", f"h-{session}", scope)])
        store.close()
        return path

    def remembers(self, text: str, user: str, agent: str, app: str = "team-shop", run: str = "r") -> None:
        """Let somebody's session have left a memory."""
        self._told += 1
        accepted = self.platform.add(Batch(f"p{self._told}", 0, [Message("user", text)], user, app, agent, run, {}))
        if not accepted.finished:
            self.platform.extraction(accepted.event_id)

    def export(self) -> tuple[dict[str, Any], list[str]]:
        """Return the counts, and the memories."""
        target = self.root / "export.jsonl"
        settings = load(self.places, self.environ, {}).settings
        counts = export_to(target, self.places, settings, self.environ, write=print)
        rows = [json.loads(line) for line in target.read_text().splitlines()]
        return counts, [row["memory"] for row in rows if row["type"] == "memory"]


@pytest.fixture(params=["mem0", "mem0-server"])
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ground]:
    with ExitStack() as stack:
        made, key = {"mem0": (hosted, KEY), "mem0-server": (self_hosted, SERVER_KEY)}[request.param]
        remote = stack.enter_context(made())
        yield Ground(tmp_path, request.param, remote.fake.url, key, remote.platform)


def test_what_is_shared_in_this_machines_projects_is_listed_beside_what_is_ones_own(ground: Ground) -> None:
    """Each memory once, also from the lane of older versions; what others have elsewhere is not listed, even where the
    same name owns it."""
    ground.worked_on(SHOP)
    ground.worked_on(LOCAL, "s2", "codex")
    ground.remembers("ada's in the shop", "ada", SHOP.project_id)
    ground.remembers("ada's anywhere", "ada", "x-1", "x")
    ground.remembers("bea's in the shop", "bea", SHOP.project_id)
    ground.remembers("bea's in the shop, long ago", "bea", "team-shop")
    ground.remembers("bea's in the plans", "bea", LOCAL.project_id, "plans")
    ground.remembers("another tool's plans", "bea", "plans", "plans")
    ground.remembers("another's of that agent", "bea", "team-shop", "other")
    ground.remembers("bea's in another project", "bea", "y-1", "y")
    counts, texts = ground.export()
    assert sorted(texts) == [
        "ada's anywhere", "ada's in the shop", "bea's in the plans", "bea's in the shop", "bea's in the shop, long ago",
    ]  # fmt: skip
    told = {"memories": 5, "notes": 0, "own": 2, "shared": 3, "projects": 2, "is_cut": False, "unread": []}
    assert counts == told


def test_without_any_session_only_ones_own_is_listed(ground: Ground) -> None:
    """A new machine knows no project."""
    ground.remembers("ada's", "ada", SHOP.project_id)
    ground.remembers("bea's", "bea", SHOP.project_id)
    counts, texts = ground.export()
    assert (texts, counts["projects"], counts["shared"]) == (["ada's"], 0, 0)


def test_a_project_is_known_by_what_the_platform_told_of_it(ground: Ground) -> None:
    """Its sessions were forgotten here, or were another's; a search has shown what is shared there."""
    ground.remembers("bea's in the shop", "bea", SHOP.project_id)
    ground.remembers("bea's elsewhere", "bea", "y-1", "y")
    index = LocalIndex(
        ground.places.memory_file, Clock(), Counters(), platform=ground.destination, redact=str
    )  # fmt: skip
    told = Memory("m", "words", metadata={"agent_id": SHOP.project_id, "app_id": "team-shop"})
    index.learn([told], Asker("ada", "team-shop", (SHOP.project_id,)))
    index.close()
    counts, texts = ground.export()
    assert (texts, counts["projects"]) == (["bea's in the shop"], 1)


def test_evidence_that_cannot_be_read_is_named_and_costs_nothing_else(ground: Ground) -> None:
    """The projects of its sessions are not known; those of the other spools are."""
    ground.worked_on(SHOP)
    damaged = ground.worked_on(LOCAL, "s2", "codex")
    damaged.write_bytes(b"no database" * 1_000)
    ground.remembers("bea's in the shop", "bea", SHOP.project_id)
    counts, texts = ground.export()
    assert (texts, counts["unread"]) == (["bea's in the shop"], [str(damaged)])


@pytest.mark.parametrize("wild", ["*", " ** "])
def test_a_wildcard_is_nobodys_lane(ground: Ground, wild: str) -> None:
    """However it came into the evidence, everybody's memories are not asked for (facts 5.17)."""
    ground.worked_on(replace(SHOP, app_id=wild, project_id=wild))
    ground.remembers("bea's", "bea", SHOP.project_id)
    assert ground.export()[1] == []


def test_a_listing_that_is_cut_is_taken_by_sessions_and_told(tmp_path: Path) -> None:
    """A server of one's own lists a thousand of an owner's: what more of them this machine's sessions left is found by
    the session, and that there may be more is said."""
    with self_hosted() as remote:
        ground = Ground(tmp_path, "mem0-server", remote.fake.url, SERVER_KEY, remote.platform)
        ground.worked_on(SHOP, "known")
        texts = [Message("user", f"Fact {number}.") for number in range(1_000)]
        remote.platform.add(Batch("p", 0, texts, "ada", "x", "x-1", "r", {}))
        ground.remembers("of a session known here", "ada", SHOP.project_id, run="known")
        ground.remembers("of a session nobody knows", "ada", "x-1", "x", run="unknown")
        counts, found = ground.export()
        assert counts["is_cut"] and counts["memories"] == 1_001
        assert "of a session known here" in found and "of a session nobody knows" not in found


def test_a_platform_that_fails_half_way_leaves_no_file(ground: Ground) -> None:
    """What is there is whole."""
    ground.worked_on(SHOP)
    ground.environ["MEM0_API_KEY"] = "wrong"
    with pytest.raises(ExportFailed, match="Nothing was exported"):
        ground.export()
    assert [path.name for path in ground.root.iterdir()] == ["m"]


def test_a_pipe_or_a_device_is_written_to_as_it_is(ground: Ground) -> None:
    """A file renamed onto /dev/null, by root, would be there for every program of the machine."""
    ground.worked_on(SHOP)
    ground.remembers("goes down the pipe", "ada", SHOP.project_id)
    pipe = ground.root / "export.jsonl"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        counts = export_to(
            pipe, ground.places, load(ground.places, ground.environ, {}).settings, ground.environ, write=print
        )
        assert (counts["memories"], "goes down the pipe" in read.result(60)) == (1, True)
    assert pipe.is_fifo()
    assert sorted(path.name for path in ground.root.iterdir()) == ["export.jsonl", "m"]
