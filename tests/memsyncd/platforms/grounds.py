"""What the conformance suite stands on: each platform, ready to be asked, with the fake behind it where there is one."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsyncd.clock import Clock
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.mem0 import Mem0Platform
from memsyncd.platforms.mem0_server import Mem0ServerPlatform
from memsyncd.platforms.platform import Platform
from memsyncd.platforms.transport import HttpSettings
from tests.fakes.mem0_api import KEY, FakeMem0
from tests.fakes.mem0_server import SERVER_KEY, FakeMem0Server

SECONDS = 10.0
"""Of a write: enough on a busy machine."""

SHORT_SECONDS = 0.5
"""Of a write that is to end by its time."""


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
def hosted(seconds: float = SECONDS) -> Iterator[Remote]:
    """Give hosted Mem0."""
    key = Key(KEY)
    with FakeMem0() as fake:
        platform = Mem0Platform(
            _url(fake), key, HttpSettings(timeout_seconds=seconds), Clock(), proxies=dict, resolve=_resolve
        )
        yield Remote(platform, fake, key)
        platform.close()


@contextmanager
def self_hosted(seconds: float = SECONDS, extraction_seconds: float = 0.0) -> Iterator[Remote]:
    """Give a Mem0 server of one's own."""
    key, http = Key(SERVER_KEY), HttpSettings(timeout_seconds=seconds)
    with FakeMem0Server() as fake:
        platform = Mem0ServerPlatform(
            _url(fake), key, http, Clock(), extraction_seconds=extraction_seconds, proxies=dict, resolve=_resolve
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
