"""What the conformance suite stands on: each platform ready to be asked, the fake behind it, and a batch to send."""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memsyncd.clock import Clock
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.mem0_server import Mem0ServerPlatform
from memsyncd.platforms.platform import (
    Accepted,
    Batch,
    ExtractionState,
    Found,
    Memory,
    Message,
    Platform,
    Query,
)
from memsyncd.platforms.transport import HttpSettings
from tests.fakes.mem0_api import KEY, FakeMem0
from tests.fakes.mem0_server import SERVER_KEY, FakeMem0Server

SECONDS = 60.0
"""Of a write: enough on a busy machine."""

SHORT_SECONDS = 1.5
"""Of a write that is to end by its time."""


STATEMENT = "We use pnpm for the web client."
BATCH = Batch(
    packet_id="p-1",
    number=0,
    messages=[Message("user", STATEMENT), Message("assistant", "Noted.")],
    user_id="ada",
    app_id="shop",
    agent_id="shop-1a2b",
    run_id="session-1",
    metadata={"memsyncd_packet": "p-1", "memsyncd_batch": 0, "dirs": ["billing", "billing/src"]},
)
QUERY = Query("what does the web client use?", user_id="ada", app_id="shop", agent_ids=["shop-1a2b"])


class Key:
    """A key source whose key can be changed."""

    def __init__(self, key: str) -> None:
        self.key = key

    def current(self) -> str:
        return self.key


@dataclass
class Remote:
    """A platform over HTTP, its fake and its key."""

    platform: Mem0Platform | Mem0ServerPlatform
    fake: FakeMem0 | FakeMem0Server
    key: Key


@contextmanager
def hosted(seconds: float = SECONDS, clock: Clock | None = None) -> Iterator[Remote]:
    """Give hosted Mem0."""
    key = Key(KEY)
    with FakeMem0() as fake:
        platform = Mem0Platform(
            _url(fake), key, HttpSettings(timeout_seconds=seconds), clock or Clock(), proxies=dict, resolve=_resolve
        )
        yield Remote(platform, fake, key)
        platform.close()


@contextmanager
def self_hosted(
    seconds: float = SECONDS, clock: Clock | None = None, extraction_seconds: float = 0.0
) -> Iterator[Remote]:
    """Give a Mem0 server of one's own."""
    key, http = Key(SERVER_KEY), HttpSettings(timeout_seconds=seconds)
    with FakeMem0Server() as fake:
        platform = Mem0ServerPlatform(
            _url(fake),
            key,
            http,
            clock or Clock(),
            extraction_seconds=extraction_seconds,
            proxies=dict,
            resolve=_resolve,
        )
        yield Remote(platform, fake, key)
        platform.close()


REMOTE = {"mem0": hosted, "mem0-server": self_hosted}


@contextmanager
def ground(kind: str, place: Path) -> Iterator[Platform]:
    """Give any platform, at its best."""
    if kind == "local":
        platform = LocalPlatform(place / "memory.sqlite3", Clock())
        yield platform
        platform.close()
        return
    with REMOTE[kind]() as remote:
        yield remote.platform


def _url(fake: FakeMem0 | FakeMem0Server) -> str:
    """Return a name that is not loopback's, so that the setting for time-outs applies."""
    return f"http://memory.example.org:{fake.port}"


def _resolve(_: str, port: int) -> list[Any]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


def packet(name: str, *messages: Message) -> Batch:
    """Return the batch as that of another packet, and with other messages if given."""
    metadata = {**BATCH.metadata, "memsyncd_packet": name}
    return replace(BATCH, packet_id=name, metadata=metadata, messages=messages or BATCH.messages)


def confirmed(platform: Platform, accepted: Accepted) -> int:
    """Return how many memories an accepted batch made: told at once, or asked for."""
    if accepted.finished:
        return accepted.memories
    extraction = platform.extraction(accepted.event_id)
    assert extraction.state is ExtractionState.SUCCEEDED
    return extraction.memories


def texts(memories: Sequence[Memory]) -> list[str]:
    return [memory.memory for memory in memories]


def find(platform: Platform, name: str = "p-1", number: int = 0) -> Found | None:
    return platform.find(name, number, user_id="ada", app_id="shop", posted_at=time.time())
