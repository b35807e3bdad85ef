"""What `telemetry show` prints is made by the code that sends."""

import math
import os
from dataclasses import replace
from pathlib import Path

from daemon.telemetry.consent import Target
from daemon.telemetry.would_send import NOT_YET, as_whom, would_send
from memsyncd.clock import Clock
from memsyncd.telemetry.identity import NAME, Identity
from tests.daemon.telemetry.switched_on import KEY, line

TARGET = Target("http://user:word@127.0.0.1:9/base/", KEY)
NOW = 1_800_000_000.0


def test_the_bodies_are_the_requests(tmp_path: Path) -> None:
    """A hundred events each (facts 12.12), the key masked, the address as it is asked, and the rest by its reason."""
    (tmp_path / "telemetry.jsonl").write_bytes(b"".join(line() for _ in range(150)) + b'no event\n{"event": ""}\n')
    found = would_send(TARGET, tmp_path, [tmp_path], now=NOW)
    assert found.url == "http://127.0.0.1:9/base/batch/"
    assert [len(body["batch"]) for body in found.bodies] == [100, 50]
    assert {body["api_key"] for body in found.bodies} == {"(set)"}
    assert len(found.events) == 150
    assert found.never == {"corrupt": 1, "incomplete": 1}
    assert {event["distinct_id"] for event in found.events} == {NOT_YET}


def test_what_has_had_its_time_is_not_shown(tmp_path: Path) -> None:
    """A claim at the end of its tries, or too old, is set aside by the next run."""
    names = {"telemetry-9-deadbeef-a3.sending": 200.0, "telemetry-8-deadbeef-a0.sending": 8 * 86_400.0}
    for name, age in (names | {"telemetry-7-deadbeef-a2.sending": 200.0}).items():
        (tmp_path / name).write_bytes(line())
        os.utime(tmp_path / name, (NOW - age, NOW - age))
    assert len(would_send(TARGET, tmp_path, [tmp_path], now=NOW).events) == 1
    for_ever = replace(TARGET, kept_seconds=math.inf)
    assert len(would_send(for_ever, tmp_path, [tmp_path], now=NOW).events) == 2


def test_looking_makes_no_id(tmp_path: Path) -> None:
    """The one that is there is shown."""
    assert as_whom(TARGET, tmp_path).distinct_id == NOT_YET
    assert list(tmp_path.iterdir()) == []
    state = Identity(tmp_path / NAME, lambda: "abc", Clock()).current()
    assert as_whom(TARGET, tmp_path).distinct_id == state.distinct_id == "code-anon-abc"


def test_an_account_that_is_allowed_no_more_is_not_shown(tmp_path: Path) -> None:
    """The next sending leaves it."""
    identity = Identity(tmp_path / NAME, lambda: "abc", Clock())
    identity.settle(KEY, lambda: "ada@example.org")
    allowed = Target("http://127.0.0.1:9", KEY, account=True)
    assert (as_whom(allowed, tmp_path).distinct_id, as_whom(allowed, tmp_path).is_account) == ("ada@example.org", True)
    assert as_whom(TARGET, tmp_path).distinct_id == NOT_YET
