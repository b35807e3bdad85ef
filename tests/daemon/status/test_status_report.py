"""The status document: its keys, its state, its sentence and its problems, as tables."""

import dataclasses
import json
from typing import Any

import pytest

from daemon.status.problem_kinds import KINDS
from daemon.status.report import (
    EvidencePart,
    ExtractionPart,
    Finding,
    Phase,
    PlatformPart,
    SpoolPart,
    StatusParts,
    healthy,
    status_document,
)
from jobs.queue.contract import Destination, QueueCounts

NOW = 1_800_000_000.0


def parts(**changes: Any) -> StatusParts:
    calm = StatusParts(
        version="1.2.3",
        now=NOW,
        pid=7,
        run_id="run-1",
        started_at=NOW - 600,
        uptime_seconds=600.0,
        spools=(SpoolPart("claude-code", "/s/claude-code"),),
        platform=PlatformPart("mem0", "https://platform.test", "mem0", ok=True),
    )
    return dataclasses.replace(calm, **changes)


def counts(**changes: Any) -> QueueCounts:
    nothing = dict.fromkeys(("ready", "waiting", "claimed", "done", "dead", "cancelled"), 0)
    return QueueCounts(**{**nothing, "oldest_ready_seconds": 0.0, **changes})


def trouble(code: str, *, seconds: float = 60.0, parked: bool = False, name: str = "mem0") -> Destination:
    return Destination(
        name=name,
        until=NOW + 30,
        why="status 503",
        code=code,
        failures=2,
        parked=parked,
        since=NOW - seconds,
        last_success_at=NOW - 300,
    )


def test_document_has_every_key_of_the_contract() -> None:
    """The document carries at least CONTRACT's keys, as JSON values only."""
    document = json.loads(json.dumps(status_document(parts())))
    assert set(document) >= {
        "version",
        "protocol",
        "pid",
        "run_id",
        "started_at",
        "uptime_seconds",
        "state",
        "summary",
        "spools",
        "jobs",
        "platform",
        "extraction",
        "telemetry",
        "counters",
        "problems",
    }
    assert document["protocol"] == 1
    assert set(document["spools"][0]) >= {
        "harness",
        "path",
        "pending",
        "running",
        "dead",
        "corrupt",
        "oldest_pending_seconds",
    }
    assert set(document["jobs"]) >= {"ready", "waiting", "claimed", "done", "dead", "oldest_ready_seconds"}
    assert set(document["platform"]) >= {"kind", "url", "ok", "cooling_until", "last_success_at", "last_error"}
    assert set(document["extraction"]) >= {"open", "oldest_seconds"}
    assert set(document["telemetry"]) >= {"enabled", "endpoint", "spooled", "parked", "dropped"}
    assert document["started_at"].endswith("Z")


@pytest.mark.parametrize(
    ("changes", "state", "well", "codes"),
    [
        ({}, "ok", True, []),
        ({"phase": Phase.STARTING, "uptime_seconds": 3.0}, "starting", True, []),
        ({"phase": Phase.STARTING, "uptime_seconds": 44.0}, "degraded", False, ["slow-start"]),
        ({"phase": Phase.STOPPING}, "stopping", True, []),
        ({"phase": Phase.DOWN}, "down", False, []),
        ({"paused": True}, "paused", True, []),
        ({"paused": True, "destinations": (trouble("key-refused", parked=True),)}, "paused", True, ["key-refused"]),
        ({"jobs": counts(dead=2)}, "ok", True, ["dead-letters"]),
        ({"spools": (SpoolPart("codex", "/s/codex", dead=1, corrupt=2),)}, "ok", True, ["dead-letters", "corrupt-files"]),
        ({"destinations": (trouble("key-refused", seconds=0.0, parked=True),)}, "degraded", False, ["key-refused"]),
        ({"destinations": (trouble("quota", seconds=0.0, parked=True),)}, "degraded", False, ["quota"]),
        ({"destinations": (trouble("busy", seconds=5.0),)}, "ok", True, ["busy"]),
        ({"destinations": (trouble("busy", seconds=29.0),)}, "degraded", False, ["busy"]),
        ({"destinations": (trouble("offline"),)}, "degraded", False, ["offline"]),
        ({"destinations": (trouble("not-understood"),)}, "degraded", False, ["not-understood"]),
        ({"destinations": (trouble("login-page"),)}, "degraded", False, ["login-page"]),
        ({"destinations": (trouble("a word of tomorrow"),)}, "degraded", False, ["offline"]),
        ({"destinations": (trouble("offline", name="telemetry"),)}, "ok", True, ["offline"]),
        ({"destinations": (trouble("offline", name="telemetry:http://h"),)}, "ok", True, ["telemetry-waits"]),
        ({"destinations": (trouble("telemetry-refused", name="telemetry:http://h", parked=True),)}, "ok", True, ["telemetry-refused"]),
        ({"findings": (Finding("spool-unreadable", where="/s/x"),)}, "degraded", False, ["spool-unreadable"]),
        ({"findings": (Finding("spool-read-only", where="/s/x"),)}, "degraded", False, ["spool-read-only"]),
        ({"findings": (Finding("newer-evidence", where="/s/x"),)}, "degraded", False, ["newer-evidence"]),
        ({"findings": (Finding("disk-nearly-full", where="/s"),)}, "degraded", False, ["disk-nearly-full"]),
        ({"findings": (Finding("watcher-dead"),)}, "degraded", False, ["watcher-dead"]),
        ({"findings": (Finding("watcher-polling"),)}, "ok", True, ["watcher-polling"]),
        ({"findings": (Finding("clock-jumped"),)}, "ok", True, ["clock-jumped"]),
        ({"findings": (Finding("hook-errors", where="/s/hook.log"),)}, "ok", True, ["hook-errors"]),
        ({"findings": (Finding("of-tomorrow", message="odd", remedy="look", degrades=True),)}, "degraded", False, ["of-tomorrow"]),
        ({"oldest_claim_seconds": 44.0}, "degraded", False, ["stuck-claim"]),
        ({"oldest_claim_seconds": 30.0}, "ok", True, []),
        ({"oldest_claim_seconds": 130.0, "longest_call_seconds": 135.0}, "ok", True, []),
        ({"oldest_claim_seconds": 146.0, "longest_call_seconds": 135.0}, "degraded", False, ["stuck-claim"]),
    ],
)  # fmt: skip
def test_state_and_health(changes: dict[str, Any], state: str, well: bool, codes: list[str]) -> None:
    """Each trouble has its code; health turns red exactly for those of CONTRACT's "Health"."""
    document = status_document(parts(**changes))
    assert document["state"] == state
    assert [problem["code"] for problem in document["problems"]] == codes
    assert healthy(document)[0] is well
    assert bool(healthy(document)[1]) is not well


@pytest.mark.parametrize(
    ("changes", "red"),
    [
        ({"jobs": counts(ready=3, oldest_ready_seconds=44.0)}, True),
        ({"jobs": counts(ready=3, oldest_ready_seconds=44.0), "last_progress_at": NOW - 44}, True),
        ({"jobs": counts(ready=3, oldest_ready_seconds=44.0), "last_progress_at": NOW - 2}, False),
        ({"jobs": counts(ready=3, oldest_ready_seconds=20.0)}, False),
        ({"jobs": counts(ready=3, oldest_ready_seconds=90_000.0), "uptime_seconds": 10.0}, False),
        ({"jobs": counts(ready=3, oldest_ready_seconds=44.0), "paused": True}, False),
        ({"jobs": counts(waiting=3)}, False),
        ({"spools": (SpoolPart("c", "/s/c", pending=1, oldest_pending_seconds=44.0),)}, True),
        ({"spools": (SpoolPart("c", "/s/c", pending=1, oldest_pending_seconds=44.0, paused=True),)}, False),
        ({"spools": (SpoolPart("c", "/s/c", pending=9, oldest_pending_seconds=44.0),), "last_progress_at": NOW}, False),
    ],
)  # fmt: skip
def test_standing_still_is_told(changes: dict[str, Any], red: bool) -> None:
    """Work that could go and does not turns health red, unless it has only just begun or the user paused it."""
    document = status_document(parts(**changes))
    codes = [problem["code"] for problem in document["problems"] if problem["code"] != "spool-paused"]
    assert codes == (["no-progress"] if red else [])
    assert (document["state"] == "degraded") is red


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Nothing waits, nothing was asked for yet."),
        ({"counters": {"packets_delivered": 3}}, "Nothing waits; packets since the start: 3 delivered."),
        ({"jobs": counts(waiting=1), "standing_jobs": 1}, "Nothing waits, nothing was asked for yet."),
        ({"jobs": counts(waiting=3), "standing_jobs": 1}, "2 jobs wait."),
        (
            {"evidence": EvidencePart(6, 1)},
            "Nothing waits, 6 recorded events of 1 session go out when it ends (or `memsyncd flush`).",
        ),
        (
            {"evidence": EvidencePart(1, 1)},
            "Nothing waits, 1 recorded event of 1 session goes out when it ends (or `memsyncd flush`).",
        ),
        (
            {"findings": (Finding("watcher-polling", detail="Too many open files (os error 24)"),)},
            "Nothing waits, nothing was asked for yet; file watching is not available; the spools are scanned on a timer instead.",
        ),
        ({"counters": {"packets_refused": 3}}, "Nothing waits; packets since the start: 3 refused."),
        ({"counters": {"packets_empty": 3}}, "Nothing waits; packets since the start: 3 held nothing to keep."),
        (
            {"spools": (SpoolPart("c", "/s/c", pending=2),), "jobs": counts(ready=1, claimed=1)},
            "1 job runs, 2 handoffs and 1 job wait.",
        ),
        ({"spools": (SpoolPart("c", "/s/c", pending=1),)}, "1 handoff waits."),
        ({"extraction": ExtractionPart(open=1, oldest_seconds=2.0)}, "1 batch is being turned into memories."),
        ({"fleet": {"role": "worker", "jobs": {"ready": 1, "waiting": 2}}}, "3 batches of all machines wait."),
        ({"fleet": {"role": "worker", "jobs": {"waiting": 1, "claimed": 1}}}, "1 batch of all machines is being delivered, 1 batch of all machines waits."),
        ({"fleet": {"role": "both", "jobs": {"ready": 1}}, "jobs": counts(ready=1)}, "1 job and 1 batch of all machines wait."),
        ({"fleet": {"role": "worker", "jobs": {"done": 3}}}, "Nothing waits."),
        ({"fleet": {"role": "edge", "packets_dead": 0}}, "Nothing waits, nothing was asked for yet."),
        (
            {"destinations": (trouble("key-refused", parked=True),), "jobs": counts(waiting=4)},
            "The platform at https://platform.test refuses the key; 4 jobs wait.",
        ),
        ({"jobs": counts(dead=1)}, "Nothing waits, nothing was asked for yet; 1 job was given up."),
        ({"phase": Phase.STARTING, "uptime_seconds": 1.0, "jobs": counts(ready=2)}, "Starting: 2 jobs wait."),
        ({"paused": True}, "Paused by you; nothing is captured or sent. Nothing waits, nothing was asked for yet."),
        (
            {"spools": (SpoolPart("c", "/s/c", paused=True),)},
            "Nothing waits, nothing was asked for yet; capture from c alone is paused, by the file /s/c/paused.",
        ),
        (
            {"spools": (SpoolPart("c", "/s/c", paused=True),), "paused": True},
            "Paused by you; nothing is captured or sent. Nothing waits, nothing was asked for yet.",
        ),
        (
            {"phase": Phase.DOWN, "jobs": counts(claimed=1)},
            "The daemon is not running; 1 job waits and will be taken up at the next start. Start it with `memsyncd run`.",
        ),
        ({"phase": Phase.DOWN}, "The daemon is not running; nothing waits. Start it with `memsyncd run`."),
        (
            {"phase": Phase.DOWN, "evidence": EvidencePart(2, 1)},
            (
                "The daemon is not running; nothing waits, 2 recorded events of 1 session go out when it ends. Start it with "
                "`memsyncd run`."
            ),
        ),
        (
            {"phase": Phase.DOWN, "spools": [SpoolPart("codex", "/s", pending=1)], "evidence": EvidencePart(1, 1)},
            (
                "The daemon is not running; 1 handoff waits and will be taken up at the next start, 1 recorded event of 1 "
                "session goes out when it ends. Start it with `memsyncd run`."
            ),
        ),
        (
            {"phase": Phase.DOWN, "findings": (Finding("data-closed", where="/d"),), "evidence": EvidencePart(1, 1)},
            (
                "The daemon is not running; 1 recorded event of 1 session goes out when it ends. /d is closed to you. Start "
                "it with `memsyncd run`."
            ),
        ),
    ],
)  # fmt: skip
def test_summary_says_what_is_true(changes: dict[str, Any], sentence: str) -> None:
    """One sentence says what moves, what waits and what is wrong; delivered, refused and nothing are other words."""
    assert status_document(parts(**changes))["summary"] == sentence


@pytest.mark.parametrize("code", sorted(KINDS))
def test_every_problem_has_a_sentence_and_something_to_type(code: str) -> None:
    """Every code of the table gives a whole sentence and a remedy that names a command."""
    [problem] = status_document(parts(findings=(Finding(code, NOW - 5, where="/s/x", detail="why"),)))["problems"]
    assert problem["code"] == code
    assert problem["message"].endswith(".")
    assert "{" not in problem["message"] + problem["remedy"]
    assert "`" in problem["remedy"]
    assert problem["since"] == "2027-01-15T07:59:55.000Z"


@pytest.mark.parametrize("code", ["disk-nearly-full", "inodes-nearly-gone", "spool-full", "spool-read-only"])
def test_where_hooks_cannot_write_it_is_said_that_they_lose_it(code: str) -> None:
    """What is there already is kept, which is another thing."""
    assert "is kept" in KINDS[code].remedy
    assert KINDS[code].remedy.endswith("is lost.") and "what hooks" in KINDS[code].remedy


def test_what_degrades_comes_first_and_nothing_twice() -> None:
    """Problems that turn health red stand before the rest; one code at one place is told once."""
    twice = (Finding("clock-jumped"), Finding("disk-nearly-full:/s"), Finding("disk-nearly-full", where="/s"))
    document = status_document(parts(findings=twice))
    assert [problem["code"] for problem in document["problems"]] == ["disk-nearly-full", "clock-jumped"]


def test_platform_tells_its_trouble_and_its_last_success() -> None:
    """A cooling platform is not ok, says until when and why, and keeps its last success."""
    platform = status_document(parts(destinations=(trouble("busy"),)))["platform"]
    assert platform["ok"] is False
    assert platform["cooling_until"] == "2027-01-15T08:00:30.000Z"
    assert platform["last_error"] == "status 503"
    assert platform["last_success_at"] == "2027-01-15T07:55:00.000Z"


def test_platform_untried_is_neither_well_nor_ill() -> None:
    """A platform nothing was sent to yet has `ok` null, and true after the first success."""
    untried = PlatformPart("mem0", "https://platform.test", "mem0")
    assert status_document(parts(platform=untried))["platform"]["ok"] is None
    answered = Destination("mem0", None, "", "", 0, parked=False, since=None, last_success_at=NOW - 1)
    assert status_document(parts(platform=untried, destinations=(answered,)))["platform"]["ok"] is True


def shared(account: str, code: str = "key-refused") -> Destination:
    return dataclasses.replace(trouble(code, parked=True), account=account)


@pytest.mark.parametrize(
    ("known", "own", "ok", "word"),
    [
        ((shared(""),), "", False, "platform.api_key_file"),
        ((shared("team-b"),), "team-b", False, "platform.api_key_file"),
        ((shared("team-b"),), "team-a", None, "queue.keys_directory"),
        ((shared("team-b", "offline"),), "team-a", None, "platform.url"),
        ((Destination("mem0", None, "", "", 0, parked=False, since=None, last_success_at=NOW), shared("a")), "a", False, "api_key"),
    ],
)  # fmt: skip
def test_a_shared_queues_destination_is_told_for_the_account_that_it_is_of(
    known: tuple[Destination, ...], own: str, ok: bool | None, word: str
) -> None:
    """The platform is as this machine's own account finds it; another account's refused key lies elsewhere."""
    platform = PlatformPart("mem0", "https://platform.test", "mem0", own)
    document = status_document(parts(platform=platform, destinations=known))
    assert document["platform"]["ok"] is ok
    (problem,) = document["problems"]
    assert problem["degrades"]
    assert word in problem["remedy"]
    assert ("'team-b'" in problem["message"]) is (ok is None)


def test_each_accounts_refused_key_is_a_problem_of_its_own() -> None:
    document = status_document(parts(destinations=(shared(""), shared("team-b"), shared("team-c"))))
    assert len({problem["message"] for problem in document["problems"]}) == 3


@pytest.mark.parametrize(
    ("fleet", "message"),
    [
        ({"role": "worker", "jobs": {"dead": 1}}, "1 batch of all machines in the shared queue was given up."),
        ({"role": "both", "jobs": {"dead": 2}}, "2 batches of all machines in the shared queue were given up."),
        ({"role": "edge", "packets_dead": 2}, "2 packets of this machine in the shared queue were given up."),
        ({"role": "edge", "packets_dead": 0}, ""),
        ({"role": "worker", "jobs": {}}, ""),
    ],
)
def test_dead_letters_of_the_shared_queue(fleet: dict[str, Any], message: str) -> None:
    """A problem, and no ill health (CONTRACT), beside those of the machine's own queue."""
    document = status_document(parts(fleet=fleet, jobs=counts(dead=1)))
    assert [each["message"] for each in document["problems"]] == ["1 job was given up.", *filter(None, (message,))]
    assert document["state"] == "ok"


def test_a_document_of_another_version_is_judged_by_its_state() -> None:
    """A degraded document without our keys is ill, with a reason; an unknown state is not taken for down."""
    assert healthy({"state": "degraded", "problems": [{"message": "Odd."}]}) == (False, ("Odd.",))
    assert healthy({"state": "degraded"}) == (False, ("Degraded, and the daemon does not say why.",))
    assert healthy({"state": "of-tomorrow"}) == (True, ())
