"""The steps of a process: each is seen, has a name a person understands, and can be the last."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.killing.examples import Careless
from tests.end_to_end.killing.forker import Ended, Forker
from tests.end_to_end.killing.matrix import Matrix, faults, spread, table
from tests.end_to_end.killing.step import AFTER, BEFORE, Point
from tests.fakes.loopback_http import LoopbackServer, Reply

PROGRAM = "tests.end_to_end.killing.examples:change_everything"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    made = LoopbackServer(lambda *_: Reply())
    made.start()
    yield made
    made.stop()


@pytest.fixture
def forker() -> Iterator[Forker]:
    with Forker() as made:
        yield made


def run(forker: Forker, home: Path, server: LoopbackServer, at: Point | None = None) -> Ended:
    home.mkdir()
    services = {server.port: "platform"}
    return forker.run([str(server.port)], home, {"HOME": str(home)}, services=services, at=at, program=PROGRAM)


def test_every_step_is_seen_by_its_name(forker: Forker, server: LoopbackServer, tmp_path: Path) -> None:
    """On disk, in a database and on the network; also those that go past the watched doors."""
    ended = run(forker, tmp_path / "home", server)
    assert ended.code == 0, ended.log
    assert [point.name.partition(" (")[0] for point in ended.points if point.phase == BEFORE] == [
        "data directory: make directory m",
        "lock: open .lock",
        "lock: sync .lock",
        "lock: rename .lock to nudge nudge",
        "tombstones: open .json",
        "nudge: link nudge",
        "queue: open",
        "queue: create",
        "queue: commit",
        "queue: close",
        "platform: connect",
        "platform: send GET /v1/event/*/",
        "platform: read the answer to GET /v1/event/*/",
    ]


def test_a_process_dies_at_the_point_it_is_told(forker: Forker, server: LoopbackServer, tmp_path: Path) -> None:
    """Just before a step nothing of it is done, just after it all is."""
    names = [point.name for point in run(forker, tmp_path / "whole", server).points]
    rename = next(name for name in names if "rename" in name)
    commit = next(name for name in names if "commit" in name)
    for phase, file in ((BEFORE, "daemon.lock"), (AFTER, "nudge")):
        home = tmp_path / phase
        assert run(forker, home, server, Point(rename, phase)).was_killed
        assert [path.name for path in (home / "m").iterdir()] == [file]
    assert run(forker, tmp_path / "commit", server, Point(commit, BEFORE)).was_killed
    assert not run(forker, tmp_path / "never", server, Point(commit, BEFORE, turn=9)).was_killed


def test_a_kill_that_does_harm_is_told() -> None:
    """At the point after which something was lost, and at no other; a bare assertion counts as well."""
    with Matrix(at_once=2) as matrix:
        results = matrix.kill(Careless(), spread(10))
    harmful = [(result.point.name.partition(" (")[0], result.point.phase) for result in results if result.why]
    assert harmful == [("m/told: unlink told", AFTER), ("m/kept: open kept", BEFORE), ("m/kept: open kept", AFTER)]
    assert "kept.exists()" in faults(results)
    assert "WRONG   m/told: unlink told" in table("moved", results)
