"""What `hooks list` knows: installed, outdated, broken, absent, switched off, and who else records."""

import json
from pathlib import Path
from typing import Any

import pytest

from daemon.installing import hooks
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around
from tests.daemon.installing.conftest import Write

CLAUDE = HARNESSES["claude-code"]
SETTINGS = ".claude/settings.json"


def changed(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def test_absent_without_a_file_or_with_others_hooks(around: Around, write: Write) -> None:
    """Nothing of ours is no problem, and looking makes no file."""
    assert hooks.look(CLAUDE, around).state == "absent"
    assert not (around.root / ".claude").exists()
    write(SETTINGS, '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}')
    assert hooks.look(CLAUDE, around) == hooks.Found("claude-code", "user", around.root / SETTINGS, "absent")


def test_installed_tells_its_events(around: Around) -> None:
    """Every event that runs ours is named, and none is missing."""
    hooks.install(CLAUDE, around)
    found = hooks.look(CLAUDE, around)
    assert (found.state, found.missing, found.problems) == ("installed", (), ())
    assert found.events == tuple(event.name for event in CLAUDE.events)


@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        ('"timeout": 5', '"timeout": 50', tuple(event.name for event in CLAUDE.events)),
        ('"SubagentStart"', '"Other"', ("SubagentStart",)),
        ("stop --harness claude-code", "stop --harness codex", ("SubagentStop", "Stop")),
    ],
)
def test_outdated_is_what_would_be_written_otherwise(
    old: str, new: str, missing: tuple[str, ...], around: Around
) -> None:
    """Another limit, another event, another harness's line: install would change it."""
    changed(hooks.install(CLAUDE, around).file, old, new)
    found = hooks.look(CLAUDE, around)
    assert (found.state, found.missing) == ("outdated", missing)
    hooks.install(CLAUDE, around)
    assert hooks.look(CLAUDE, around).state == "installed"


def test_twice_for_one_event_is_outdated(around: Around) -> None:
    """An entry that somebody copied runs the hook twice."""
    path = hooks.install(CLAUDE, around).file
    now = json.loads(path.read_text())
    now["hooks"]["Stop"] *= 2
    path.write_text(json.dumps(now))
    assert hooks.look(CLAUDE, around).state == "outdated"
    hooks.install(CLAUDE, around)
    assert len(json.loads(path.read_text())["hooks"]["Stop"]) == 1


@pytest.mark.parametrize("name", list(HARNESSES))
def test_broken_names_the_program_that_is_gone(name: str, around: Around) -> None:
    """For every harness: a line whose interpreter is gone, as after an upgrade of Python."""
    path = hooks.install(HARNESSES[name], around).file
    before = path.read_text()
    start = before.index("/", before.index('"/') if '"/' in before else 0)
    interpreter = before[start : before.index(" -I -S", start)]
    path.write_text(before.replace(interpreter + " -I", "/gone/python3 -I"))
    found = hooks.look(HARNESSES[name], around)
    assert (found.state, found.problems) == ("broken", ("/gone/python3 is gone",))
    hooks.install(HARNESSES[name], around)
    assert hooks.look(HARNESSES[name], around).state == "installed"


@pytest.mark.parametrize(
    ("more", "problems", "foreign"),
    [
        ({"disableAllHooks": True}, ("disableAllHooks is true, so Claude Code runs no hook at all",), ()),
        ({"disableAllHooks": False}, (), ()),
        ({"enabledPlugins": {"mem0@shop": True, "lint@shop": True, "claude-mem@x": False}}, (), ("plugin mem0@shop",)),
        ({"enabledPlugins": ["mem0"]}, (), ("plugin mem0",)),
        ({"enabledPlugins": 5}, (), ()),
        (
            {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "~/.mem0/run.sh"}]}], "X": 5}},
            (),
            ("~/.mem0/run.sh",),
        ),
    ],
)
def test_switches_and_others_that_record(
    more: dict[str, Any], problems: tuple[str, ...], foreign: tuple[str, ...], around: Around, write: Write
) -> None:
    """What keeps our hooks from running, and what records the same sessions, is told."""
    write(SETTINGS, json.dumps(more))
    hooks.install(CLAUDE, around)
    found = hooks.look(CLAUDE, around)
    assert (found.problems, found.foreign) == (problems, foreign)


def test_what_makes_antigravity_ignore_our_file_is_told(around: Around) -> None:
    """Ours are in it, and somebody has written a comment since, or an entry with a wrong limit: nothing runs."""
    harness = HARNESSES["antigravity"]
    path = hooks.install(harness, around).file
    text = path.read_text()
    assert hooks.look(harness, around).problems == ()
    for spoiled in (text + "// mine\n", text[:1] + '"a": {"Stop": [{"command": "x", "timeout": "5"}]},' + text[1:]):
        path.write_text(spoiled)
        found = hooks.look(harness, around)
        assert found.state == "installed"
        assert "Antigravity ignore the whole file" in found.problems[0]


@pytest.mark.parametrize(
    ("name", "file", "text", "told"),
    [
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", ("features.hooks is false in config.toml",)),
        ("codex", ".codex/config.toml", "[features]\nhooks = true\n", ()),
        ("codex", ".codex/config.toml", "[features\n", ()),
        ("opencode", ".config/opencode/opencode.jsonc", '{"plugin": ["@mem0/x", "y"], /**/}', ("plugin @mem0/x",)),
        ("opencode", ".config/opencode/opencode.json", '{"plugin": [5]}', ()),
    ],
)
def test_settings_in_other_files(name: str, file: str, text: str, told: tuple[str, ...], around: Around) -> None:
    """Where a harness keeps such settings elsewhere, that file is looked at, whatever is in it."""
    path = around.root / file
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text(text)
    hooks.install(HARNESSES[name], around)
    found = hooks.look(HARNESSES[name], around)
    assert (found.state, *found.problems, *found.foreign) == ("installed", *told)


@pytest.mark.parametrize(
    ("place", "is_passing"),
    [
        ("/home/ana/.cache/uv/archive-v0/x1/lib/python3.12/site-packages", True),
        ("/data/uv/environments-v2/x/lib", True),
        ("/home/ana/.cache/pipx/ab12/lib/python3.12/site-packages", True),
        ("/Users/ana/Library/Caches/uv/archive-v0/x", True),
        ("/home/ana/.local/share/uv/tools/memsyncd/lib/python3.12/site-packages", False),
        ("/opt/memsyncd/venv/lib/python3.12/site-packages", False),
    ],
)
def test_an_installation_that_will_be_cleaned_away_is_told(place: str, is_passing: bool) -> None:
    """What `uvx` runs is gone one day, and the hooks with it; what was installed to stay is no concern."""
    assert bool(hooks.passing(Path(place) / "memsyncd/hooks/drop.py")) is is_passing


def test_every_harness_s_entries_carry_its_unit(around: Around) -> None:
    """Seconds for all but Gemini CLI, which counts milliseconds; Kimi's tables have no key besides their four."""
    limits = {
        name: {entry.handler.get("timeout", entry.handler.get("timeoutSec")) for entry in hooks.wanted(harness, around)}
        for name, harness in HARNESSES.items()
    }
    assert limits.pop("gemini-cli") == {5000}
    assert limits.pop("codex") == {3, 5}
    assert limits.pop("windsurf") == limits.pop("opencode") == {None}
    assert set(map(tuple, limits.values())) == {(5,)}
    for name in ("kimi", "kimi-cli"):
        assert all(set(entry.handler) <= {"command", "timeout"} for entry in hooks.wanted(HARNESSES[name], around))


def test_no_event_that_can_block_a_tool_is_used() -> None:
    """Nothing is registered that runs before a tool: an answer that fails to come would deny it (never-again 25)."""
    names = {event.name.lower() for harness in HARNESSES.values() for event in harness.events}
    assert not {name for name in names if "pretool" in name or "permission" in name or "beforetool" in name}
