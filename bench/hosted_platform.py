"""The fake hosted platform in a process of its own, so that its processor time is nobody's, and what it saw.

    python -m bench.hosted_platform --port-file FILE --from SECONDS --to SECONDS

Each extraction ends at its own time, evenly spread between the two. A line of JSON is printed for each request.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import process_figures
from tests.fakes.loopback_http import Reply, Request
from tests.fakes.mem0_api import FakeMem0
from tests.fakes.mem0_routes import route_of

ROOT = Path(__file__).resolve().parent.parent
ENDED = frozenset({"SUCCEEDED", "FAILED"})


@dataclass
class HostedPlatform:
    """The process seen from outside. `requests` grows as they come in: `at` (Unix seconds), `route`, and for an add
    its event `id` and `ripe_at`, for a question `told`: the status of each event by its id."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    adds: list[dict[str, Any]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def wait_for_adds(self, count: int, seconds: float) -> dict[str, Any]:
        """Wait for the add of that number, counted from 1, and return it."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.adds) >= count, seconds):
                raise SystemExit(f"{len(self.adds)} of {count} requests came within {seconds:.0f} s")
            return self.adds[count - 1]


@contextmanager
def hosted_platform(*, end_from: float = 0.0, end_to: float = 0.0) -> Iterator[HostedPlatform]:
    """Run it apart."""
    with tempfile.TemporaryDirectory() as place:
        port_file = Path(place) / "port"
        command = [sys.executable, "-m", "bench.hosted_platform", "--port-file", str(port_file)]
        command += ["--from", str(end_from), "--to", str(end_to)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
        platform = HostedPlatform("")
        reader = threading.Thread(target=_read, args=(process, platform), daemon=True)
        try:
            process_figures.until(port_file.exists, 20.0, "the fake platform did not start")
            platform.url = f"http://127.0.0.1:{port_file.read_text()}"
            reader.start()
            yield platform
        finally:
            process.terminate()
            process.wait()
            reader.join(10)
            assert process.stdout is not None
            process.stdout.close()


def _read(process: "subprocess.Popen[bytes]", platform: HostedPlatform) -> None:
    assert process.stdout is not None
    for text in process.stdout:
        request = json.loads(text)
        with platform.changed:
            platform.requests.append(request)
            if request["route"] == "add":
                platform.adds.append(request)
            platform.changed.notify_all()


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(description="A fake of the hosted platform, apart.")
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--from", type=float, default=0.0, dest="end_from")
    parser.add_argument("--to", type=float, default=0.0, dest="end_to")
    options = parser.parse_args()
    chance = random.Random(1)
    fake = FakeMem0()

    def spread(_: Request) -> None:
        fake.extraction_seconds = chance.uniform(options.end_from, options.end_to)

    def told(request: Request, reply: Reply) -> None:
        sys.stdout.write(json.dumps(_line(request, reply, fake.extraction_seconds)) + os.linesep)
        sys.stdout.flush()

    fake.on_request, fake.on_reply = spread, told
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with fake:
        part = options.port_file.with_suffix(".part")
        part.write_text(str(fake.port))
        part.replace(options.port_file)
        stop.wait()


def _line(request: Request, reply: Reply, extraction_seconds: float) -> dict[str, Any]:
    route, _ = route_of(request)
    line: dict[str, Any] = {"at": request.at, "route": route, "status": reply.status}
    answer = json.loads(reply.body)
    if route == "add":
        line |= {"id": answer.get("event_id", ""), "ripe_at": request.at + extraction_seconds}
        line["run_id"] = (request.json or {}).get("run_id", "")
    elif route == "event":
        line["told"] = {answer["id"]: answer["status"]} if "id" in answer else {}
    elif route == "events":
        line["told"] = {event["id"]: event["status"] for event in answer["results"]}
    return line


if __name__ == "__main__":
    main()
