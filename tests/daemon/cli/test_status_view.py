"""The status for people: golden text at several widths, and nothing that steers a terminal."""

import dataclasses
from typing import Any

import pytest

from daemon.cli.jobs_view import job_lines, jobs_lines
from daemon.cli.status_view import facts, status_lines
from daemon.cli.wording import clean, moment, span

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z

DOCUMENT: dict[str, Any] = {
    "version": "1.2.3",
    "pid": 7,
    "uptime_seconds": 5400.0,
    "state": "degraded",
    "summary": "The platform at https://platform.test refuses the key; 2 handoffs and 3 jobs wait.",
    "last_progress_at": "2027-01-15T07:55:00.000Z",
    "spools": [
        {"harness": "claude-code", "pending": 2, "running": 1, "dead": 0, "corrupt": 0, "oldest_pending_seconds": 200.0},
        {"harness": "codex", "pending": 0, "running": 0, "dead": 0, "corrupt": 0, "oldest_pending_seconds": 0.0},
    ],
    "jobs": {"ready": 3, "waiting": 0, "claimed": 0, "done": 1234, "dead": 1, "oldest_ready_seconds": 90.0},
    "platform": {
        "kind": "mem0",
        "url": "https://platform.test",
        "ok": False,
        "cooling_until": "2027-01-15T08:00:30.000Z",
        "last_success_at": "2027-01-15T05:00:00.000Z",
        "last_error": "status 401",
    },
    "extraction": {"open": 1, "oldest_seconds": 3.2},
    "telemetry": {"enabled": False},
    "problems": [
        {
            "code": "key-refused",
            "since": "2027-01-15T07:50:00.000Z",
            "message": "The platform refuses the key.",
            "remedy": "Write a valid key; see `memsyncd config show`.",
            "degrades": True,
        },
        {"code": "dead-letters", "since": None, "message": "1 job was given up.", "remedy": "`memsyncd jobs list --state dead`.", "degrades": False},
    ],
}  # fmt: skip

AT_80 = """\
✖ degraded: The platform at https://platform.test refuses the key; 2 handoffs
  and 3 jobs wait.

daemon      1.2.3, pid 7, up 90 min, last progress 5 min ago
platform    mem0 at https://platform.test: failing, last answer 3 h ago, next
            try in 30 s, last error: status 401
jobs        3 ready, 0 waiting, 0 running, 1,234 done, 1 given up; oldest ready
            90 s
extraction  1 batch open, oldest 3 s
telemetry   off, nothing leaves this machine

spool           waiting   in work  given up   corrupt    oldest
claude-code           2         1         0         0     3 min
codex                 0         0         0         0         -

✖ The platform refuses the key. First seen 10 min ago.
  → Write a valid key; see `memsyncd config show`.

◐ 1 job was given up.
  → `memsyncd jobs list --state dead`."""

AT_40 = """\
✖ degraded: The platform at
  https://platform.test refuses the key;
  2 handoffs and 3 jobs wait.

daemon      1.2.3, pid 7, up 90 min,
            last progress 5 min ago
platform    mem0 at
            https://platform.test:
            failing, last answer 3 h
            ago, next try in 30 s, last
            error: status 401
jobs        3 ready, 0 waiting, 0
            running, 1,234 done, 1 given
            up; oldest ready 90 s
extraction  1 batch open, oldest 3 s
telemetry   off, nothing leaves this
            machine

claude-code: 2 waiting, 1 in work, 0
  given up, 0 corrupt
codex: 0 waiting, 0 in work, 0 given up,
  0 corrupt

✖ The platform refuses the key. First
  seen 10 min ago.
  → Write a valid key; see `memsyncd
    config show`.

◐ 1 job was given up.
  → `memsyncd jobs list --state dead`."""


def drawn(document: dict[str, Any], width: int) -> str:
    return "\n".join(line.text for line in status_lines(document, width=width, now=NOW))


@pytest.mark.parametrize(("width", "golden"), [(80, AT_80), (40, AT_40), (10, AT_40)])
def test_golden_text(width: int, golden: str) -> None:
    """The recorded document gives exactly this text; under 40 columns it is drawn as at 40."""
    assert drawn(DOCUMENT, width) == golden


@pytest.mark.parametrize("width", [40, 41, 63, 64, 79, 80, 120, 200, 500])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    """Whatever the width, no line is longer, and none longer than 200."""
    document = DOCUMENT | {"data": "/" + "x" * 300, "socket": "/run/" + "y" * 150}
    document["spools"] = [{"harness": "h" * 80, "pending": 10**6, "path": "/s"}]
    longest = max(len(text) for text in drawn(document, width).splitlines())
    assert longest <= min(width, 200)


@pytest.mark.parametrize("document", [{}, {"state": "of-tomorrow"}, {"spools": None, "jobs": {}, "problems": [{}]}])
def test_a_poor_document_is_drawn_all_the_same(document: dict[str, Any]) -> None:
    """Missing keys, as another version may leave them, are no error."""
    assert drawn(document, 80)


def test_what_stands_still_is_named() -> None:
    """Paused projects with the end of their pause, requests to forget that look on, telemetry that is set aside."""
    document = DOCUMENT | {
        "paused": True,
        "paused_until": "2027-01-15T08:30:00.000Z",
        "paused_projects": [{"root": "/w/tool", "until": None}],
        "forgetting": 2,
        "telemetry": {"enabled": True, "endpoint": "https://t.test", "set_aside": 3},
    }
    told = drawn(document, 120)
    assert "\npaused      everything (ends in 30 min), /w/tool\n" in told
    assert "\nforgetting  2 requests look for late memories on the platform\n" in told
    assert "\ntelemetry   to https://t.test: 0 spooled, 0 parked, 0 dropped, 3 files set aside\n" in told
    assert "paused " not in drawn(DOCUMENT, 120) and "forgetting" not in drawn(DOCUMENT, 120)


def test_the_sentence_comes_first_and_carries_the_tone() -> None:
    """Green only for ok; the first line is the sentence."""
    first = status_lines(DOCUMENT, width=80, now=NOW)[0]
    assert first.tone == "bad"
    well = status_lines(DOCUMENT | {"state": "ok", "summary": "Nothing waits."}, width=80, now=NOW)[0]
    assert dataclasses.astuple(well) == ("● ok: Nothing waits.", "good")
    for state in ("down", "degraded", "of-tomorrow"):
        assert status_lines({"state": state}, width=80, now=NOW)[0].tone == "bad"


def test_nothing_steers_the_terminal() -> None:
    """Escape sequences in an error, a path or a job id come out as spaces."""
    evil = "a\x1b[2Jb\nc\x07"
    document = DOCUMENT | {"platform": {"kind": "mem0", "ok": False, "last_error": evil}, "data": evil, "summary": evil}
    job = {"id": evil, "state": "dead", "reason": evil, "errors": [{"at": "", "why": evil}]}
    lines = [*status_lines(document, width=80, now=NOW), *jobs_lines([job], width=80, now=NOW)]
    lines += job_lines(job, width=80, now=NOW)
    assert all(line.text.isprintable() for line in lines)
    assert clean(evil) == "a [2Jb c "


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (NOW, "just now"),
        (NOW - 5, "5 s ago"),
        (NOW - 180, "3 min ago"),
        (NOW - 3 * 3600, "3 h ago"),
        (NOW - 3 * 86400, "3 days ago"),
        (NOW + 30.5, "in 30 s"),
        ("2027-01-15T07:57:00.000Z", "3 min ago"),
        ("no time", "never"),
        (None, "never"),
        (True, "never"),
    ],
)
def test_moments(value: Any, text: str) -> None:
    """Times are told from now, forwards and back; what is none is `never`."""
    assert moment(value, NOW) == text


def test_spans_are_never_negative() -> None:
    """A clock set back gives 0 s, not a minus sign."""
    assert span(-5) == "0 s"


JOBS = [
    {"id": "flush:codex:abc", "kind": "flush", "state": "dead", "not_before": None, "updated_at": "2027-01-15T07:59:00Z", "reason": "status 422: too long", "attempts": 5},
    {"id": "poll:mem0", "kind": "poll", "state": "waiting", "not_before": "2027-01-15T08:00:10Z", "reason": ""},
]  # fmt: skip


def test_jobs_as_a_table_and_as_pairs() -> None:
    """With room, a line a job; without, the id stands whole on its own line, for it is what one types next."""
    wide = [line.text for line in jobs_lines(JOBS, width=80, now=NOW)]
    assert wide == [
        "id               state      next or last  why",
        "flush:codex:abc  dead       60 s ago      status 422: too long",
        "poll:mem0        waiting    in 10 s",
    ]
    narrow = [line.text for line in jobs_lines(JOBS, width=40, now=NOW)]
    assert narrow == ["flush:codex:abc", "  dead, 60 s ago, status 422: too long", "poll:mem0", "  waiting, in 10 s"]
    assert [line.text for line in jobs_lines([], width=80, now=NOW)] == ["no jobs"]


def test_one_job_whole() -> None:
    """Fields first, then each error with its time."""
    job = JOBS[0] | {"errors": [{"at": "2027-01-15T07:00:00Z", "why": "status 422"}]}
    assert [line.text for line in job_lines(job, width=80, now=NOW)] == [
        "id          flush:codex:abc",
        "kind        flush",
        "state       dead",
        "attempts    5",
        "reason      status 422: too long",
        "error       60 min ago: status 422",
    ]


def test_the_daemons_own_timers_are_nobodys_waiting_jobs() -> None:
    """Where the sentence says that nothing waits, no job is shown as waiting."""
    told = dict(facts({"jobs": {"waiting": 3, "done": 2}, "standing_jobs": 2}, NOW))
    assert told["jobs"] == "0 ready, 1 waiting, 0 running, 2 done, 0 given up"
    assert "0 waiting" in dict(facts({"jobs": {"waiting": 1}, "standing_jobs": 1}, NOW))["jobs"]
