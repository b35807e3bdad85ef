"""How the parts are sized for each other."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from memsyncd.platforms import json_api
from memsyncd.platforms.network import Network
from memsyncd.platforms.transport import HttpSettings, open_transport
from tests.daemon.composed import composed


@pytest.mark.parametrize(("workers", "calls"), [("4", 8), ("16", 18)])
def test_every_worker_has_a_place_for_its_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: str, calls: int
) -> None:
    """Sixteen workers that wait for a slow platform are no outage, and a search goes beside them."""
    told: list[int] = []

    class Noting(json_api.HttpClient):
        def __init__(self, *arguments: Any, parallel: int, **named: Any) -> None:
            told.append(parallel)
            super().__init__(*arguments, parallel=parallel, **named)

    monkeypatch.setattr(json_api, "HttpClient", Noting)
    with composed(tmp_path, MEMSYNCD_PLATFORM_KIND="mem0", MEMSYNCD_QUEUE_WORKERS=workers):
        assert told == [calls]


def test_no_call_waits_for_a_connection() -> None:
    """There are more of them than places."""
    network = Network(lambda: 0.0, lambda *_: [])
    transport: Any = open_transport(httpx.URL("http://127.0.0.1:1"), HttpSettings(parallel=18), network, {})
    assert transport._pool._max_connections > 18
