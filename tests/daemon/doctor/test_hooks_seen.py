"""The events expected of a harness, compared with those that came."""

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon import hook_errors
from daemon.doctor import hooks
from daemon.doctor.hooks_seen import LOST_SECONDS, SILENT_SECONDS, UNENDED, Came, Compared, Seen, compare
from daemon.installing import hooks as installing
from daemon.installing.harnesses import HARNESSES
from memsyncd.clock import rfc3339
from tests.daemon.composed import Composed, composed
from tests.daemon.doctor.examined import examine_home, found

NOW = 1_800_000_000.0
EVENTS = HARNESSES["claude-code"].events
ALL = tuple(event.name for event in EVENTS)
RARE = ["PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop"]
FLUSHES = ["PreCompact", "SessionEnd"]


def seen(**kinds: int) -> dict[str, Seen]:
    return {kind: Seen(events=number, sessions=number, last=NOW) for kind, number in kinds.items()}


@pytest.mark.parametrize(
    ("kinds", "lost", "rare"),
    [
        ({}, [], ["SessionStart", "UserPromptSubmit", *RARE, "Stop", *FLUSHES]),
        (seen(session_start=1, user_prompt=1), [], [*RARE, "Stop", *FLUSHES]),
        (seen(session_start=2, user_prompt=2), ["Stop"], [*RARE, *FLUSHES]),
        (seen(session_start=2, assistant_stop=1), ["UserPromptSubmit"], [*RARE, *FLUSHES]),
        (seen(user_prompt=1, assistant_stop=1), [], ["SessionStart", *RARE, *FLUSHES]),
        (seen(user_prompt=2, assistant_stop=2), ["SessionStart"], [*RARE, *FLUSHES]),
        (seen(session_start=2, user_prompt=2, assistant_stop=2, tool_result=9), [], [*RARE[1:], *FLUSHES]),
    ],
)
def test_an_event_is_lost_where_others_show_that_it_happened(kinds: dict[str, Seen], lost: list[str], rare: list[str]) -> None:  # fmt: skip
    """A session that is under way shows nothing; what happens in some sessions only is named and no fault."""
    compared = compare(EVENTS, ALL, Came(kinds))
    assert (list(compared.lost), list(compared.rare)) == (lost, rare)


def test_what_comes_no_more_is_told() -> None:
    """Prompts that last came long before the newest event have lost their hook, for the harness or for good."""
    kinds = seen(session_start=9, user_prompt=9, assistant_stop=9)
    kinds["user_prompt"] = Seen(9, 9, NOW - LOST_SECONDS - 1)
    assert compare(EVENTS, ALL, Came(kinds)).gone == ["UserPromptSubmit"]


def test_what_is_not_registered_is_not_expected() -> None:
    """Only the harness's entries of ours count."""
    compared = compare(EVENTS, ["UserPromptSubmit"], Came(seen(user_prompt=5)))
    assert compared == Compared(["UserPromptSubmit"], [], [], [], NOW)


@pytest.mark.parametrize(
    ("harness", "unended", "last_end", "lost", "gone"),
    [
        ("claude-code", UNENDED - 1, None, [], []),
        ("claude-code", UNENDED, None, ["SessionEnd"], []),
        ("claude-code", 0, NOW, [], []),
        ("claude-code", UNENDED, NOW - LOST_SECONDS, [], []),
        ("claude-code", UNENDED, NOW - LOST_SECONDS - 1, [], ["SessionEnd"]),
        ("claude-code", UNENDED - 1, NOW - LOST_SECONDS - 1, [], []),
        ("copilot", UNENDED, None, ["SessionEnd"], []),
        ("codex", UNENDED, None, [], []),
        ("gemini-cli", UNENDED, NOW - LOST_SECONDS - 1, [], []),
    ],
)
def test_an_end_is_missed_where_several_sessions_are_over(
    harness: str, unended: int, last_end: float | None, lost: list[str], gone: list[str]
) -> None:
    """One or two may have been killed; and a harness that does not tell every end anyhow is not blamed for it."""
    events = HARNESSES[harness].events
    kinds = seen(session_start=9, user_prompt=9, assistant_stop=9, tool_result=9, subagent_stop=9)
    if last_end is not None:
        kinds["session-end"] = Seen(1, 0, last_end)
    compared = compare(events, [event.name for event in events], Came(kinds, unended))
    assert (list(compared.lost), list(compared.gone)) == (lost, gone)
    assert ("SessionEnd" in compared.rare) is (last_end is None and not lost)


def test_a_compaction_never_has_to_come() -> None:
    """Most sessions are short; that it came once is known."""
    kinds = seen(session_start=9, user_prompt=9, assistant_stop=9)
    assert "PreCompact" in compare(EVENTS, ALL, Came(kinds, UNENDED)).rare
    kinds["pre-compact"] = Seen(1, 0, NOW - 9 * LOST_SECONDS)
    compared = compare(EVENTS, ALL, Came(kinds, UNENDED))
    assert "PreCompact" in compared.seen and "PreCompact" not in compared.gone


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.refresh()
        yield made


def installed(home: Composed) -> Path:
    around = installing.Around(home.root, {}, home_uid(), data=str(home.places.data))
    return installing.install(HARNESSES["claude-code"], around).file


def home_uid() -> int:
    import os

    return os.getuid()


def check(home: Composed, **environ: str) -> Any:
    return found(hooks.probes(examine_home(home.root, **environ)))


def test_a_harness_with_hooks_is_named_with_what_never_came(home: Composed) -> None:
    """Registered, its prompts come and its answers do not: the very event is named, with a remedy."""
    installed(home)
    home.record("s", "one", "two")
    with sqlite3.connect(home.parts.served.store("claude-code").path) as connection:
        connection.execute("DELETE FROM events WHERE kind = 'assistant_stop'")
    connection.close()
    told = check(home)["hooks claude-code"]
    assert not told.ok
    assert "never came, though others did: Stop" in told.message
    assert "hooks install --harness claude-code" in told.remedy


def test_a_harness_whose_ends_are_never_told_is_named(home: Composed) -> None:
    """Its sessions come and go, and nobody ever asked for a flush at an end: that hook does not run. With the first
    that does, all is well. Sessions from before the ends were watched do not count."""
    installed(home)
    store, now = home.parts.served.store("claude-code"), home.parts.clock.wall()
    for number in range(UNENDED):
        home.record(f"old{number}", "one", at=now - SILENT_SECONDS - 60 * (number + 1))
    home.record("new", "one")
    store.note_flushes({})
    assert "others did: SessionStart;" in check(home)["hooks claude-code"].message + ";"
    watch_since(store, now - 3 * SILENT_SECONDS)
    told = check(home)["hooks claude-code"]
    assert not told.ok
    assert "never came, though others did: SessionStart, SessionEnd" in told.message
    assert "hooks install --harness claude-code" in told.remedy
    store.note_flushes({"session-end": now})
    assert "SessionEnd" not in check(home)["hooks claude-code"].message


def watch_since(store: Any, at: float) -> None:
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE settings SET value = ?", (rfc3339(at),))
    connection.close()


def test_a_harness_that_is_just_begun_is_well(home: Composed) -> None:
    """Installed and nothing seen yet is no fault, and a hint says how to see something."""
    installed(home)
    told = check(home)["hooks claude-code"]
    assert (told.ok, "none so far" in told.message, "new session" in told.remedy) == (True, True, True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda config: config["hooks"].pop("Stop"), "lacks Stop"),
        (lambda config: config.update(disableAllHooks=True), "disableAllHooks"),
    ],
)
def test_what_keeps_hooks_from_running_fails(home: Composed, change: Any, words: str) -> None:
    """A missing entry, a switch that is off."""
    file = installed(home)
    config = json.loads(file.read_text())
    change(config)
    file.write_text(json.dumps(config))
    told = check(home)["hooks claude-code"]
    assert not told.ok
    assert words in told.message
    assert ("hooks install" in told.remedy) is (words == "lacks Stop")


def test_an_unreadable_file_fails_with_its_reason(home: Composed) -> None:
    """A configuration that is no JSON is named."""
    file = installed(home)
    file.write_text("{")
    told = check(home)["hooks claude-code"]
    assert not told.ok
    assert str(file) in told.message


def test_hooks_put_in_by_hand_are_seen_by_what_comes(home: Composed) -> None:
    """Without an installed harness, the harnesses that events come from are named."""
    assert not check(home)["hooks"].ran
    home.record("s", "one")
    assert "claude-code" in check(home)["hooks"].message


def test_what_hooks_could_not_do_is_told_for_a_day(home: Composed) -> None:
    """The last line of their log fails the check while it is young, by its own time."""
    assert check(home)["hook errors"].ok
    log = home.places.hook_error_log
    now = home.parts.clock.wall()
    log.write_text(f"{rfc3339(now - 6840)} stop claude-code OSError ENOSPC\n")
    told = check(home)["hook errors"]
    assert not told.ok
    assert "114 min ago" in told.message and "ENOSPC" in told.message
    log.write_text(f"{rfc3339(now - 2 * 86_400)} stop claude-code OSError ENOSPC\n")
    assert check(home)["hook errors"].ok


def test_what_hooks_of_no_home_could_not_do_fails_no_home(tmp_path: Path) -> None:
    """Older versions named none in the log that all homes of a user share; it is told, and for a day."""
    log, data, now = tmp_path / "hook-errors.log", tmp_path / "d", time.time()
    for seconds, is_told in ((6840, True), (2 * 86_400, False)):
        log.write_text(f"{rfc3339(now - seconds)} stop claude-code OSError EROFS\n")
        assert hook_errors.lost(log, data, os.getuid()) is None
        nobodys = hook_errors.lost(log, data, os.getuid(), by_nobody=True)
        told = hooks.errors(None, nobodys, now)
        assert told.ok and "no hook has ever failed" in told.message
        assert ("named no home" in told.remedy and "114 min ago" in told.remedy and str(log) in told.remedy) == is_told
    assert hook_errors.lost(log, tmp_path, os.getuid(), by_nobody=True) is None


def test_an_empty_log_of_hooks_does_not_hide_the_one_with_the_reason(home: Composed, tmp_path: Path) -> None:
    """On a full disk a hook makes the one and writes into the other."""
    home.places.hook_error_log.write_text("")
    assert check(home)["hook errors"].ok
    elsewhere = {"MEMSYNCD_HOME": "", "XDG_DATA_HOME": str(tmp_path / "d"), "XDG_RUNTIME_DIR": str(tmp_path / "r")}
    ours = f"torn stop claude-code OSError ENOSPC {tmp_path}/d/memsyncd\n"
    for log, text in ((tmp_path / "r", ours), (tmp_path / "d", "")):
        (log / "memsyncd").mkdir(parents=True)
        (log / "memsyncd" / "hook-errors.log").write_text(text)
    told = check(home, **elsewhere)["hook errors"]
    assert not told.ok and "torn stop" in told.message and str(tmp_path / "r") in told.remedy
