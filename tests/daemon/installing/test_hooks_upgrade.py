"""Entries of older versions, entries among others', and what is left behind."""

import json
from pathlib import Path
from typing import Any

import pytest

from daemon.installing import hooks
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around
from memsyncd.hooks.command_line import DROP, command_line
from tests.daemon.installing.conftest import Write

OLD = "/old/python3 -I -S /old/memsyncd/hooks/drop.py stop --harness codex"
OLDER = "memsyncd hook stop --harness codex"


def group(*commands: str, **more: Any) -> dict[str, Any]:
    return {**more, "hooks": [{"type": "command", "command": command} for command in commands]}


def stops(path: Path) -> list[list[str]]:
    """Return the commands of a file's Stop groups, ours as their actions."""
    ours = command_line("stop", "codex")
    groups = json.loads(path.read_text())["hooks"].get("Stop", [])
    return [["ours" if hook["command"] == ours else hook["command"] for hook in group["hooks"]] for group in groups]


@pytest.mark.parametrize(
    ("before", "after", "out"),
    [
        ([["a"], [OLD], ["b"]], [["a"], ["ours"], ["b"]], [["a"], ["b"]]),
        ([["a", OLDER, "b"]], [["a", "b"], ["ours"]], [["a", "b"]]),
        ([[OLD], ["a"], [OLDER, OLD]], [["ours"], ["a"]], [["a"]]),
        ([["a", OLD], [OLDER]], [["a"], ["ours"]], [["a"]]),
        ([[OLD + " && a"]], [[OLD + " && a"], ["ours"]], [[OLD + " && a"]]),
    ],
)
def test_older_entries_make_room(
    before: list[list[str]], after: list[list[str]], out: list[list[str]], around: Around, write: Write
) -> None:
    """One of ours alone in its group is replaced where it stands, so that no other hook changes its place; the rest of
    ours go, and nobody else's."""
    path = write(".codex/hooks.json", json.dumps({"hooks": {"Stop": [group(*commands) for commands in before]}}))
    hooks.install(HARNESSES["codex"], around)
    assert stops(path) == after
    assert not hooks.install(HARNESSES["codex"], around).changed
    hooks.uninstall(HARNESSES["codex"], around)
    assert stops(path) == out


def test_an_event_that_is_no_longer_wanted_loses_ours(around: Around, write: Write) -> None:
    """What an older version registered and this one does not is taken out."""
    path = write(
        ".codex/hooks.json", json.dumps({"hooks": {"PreToolUse": [group(OLD)], "Interrupt": [group("a", OLD)]}})
    )
    assert hooks.look(HARNESSES["codex"], around).state == "broken"
    hooks.install(HARNESSES["codex"], around)
    found = json.loads(path.read_text())["hooks"]
    assert "PreToolUse" not in found
    assert found["Interrupt"] == [group("a")]


def test_a_narrowed_entry_is_widened(around: Around, write: Write) -> None:
    """Behind a matcher ours would miss most of what happens, so the group is written anew."""
    line = command_line("post-tool", "claude-code")
    narrow = {"matcher": "Bash", "hooks": [{"type": "command", "command": line, "timeout": 5}]}
    path = write(".claude/settings.json", json.dumps({"hooks": {"PostToolUse": [narrow]}}))
    hooks.install(HARNESSES["claude-code"], around)
    [found] = json.loads(path.read_text())["hooks"]["PostToolUse"]
    assert "matcher" not in found


def test_kimi_tables_of_older_versions_go(around: Around, write: Write) -> None:
    """In TOML too, with the comments of others in place."""
    theirs = '# mine\n[[hooks]]\nevent = "Stop"\ncommand = "./say.sh"\n\n# the model\n[models]\nx = 1\n'
    old = f'[[hooks]]\nevent = "Stop"\ncommand = "{OLD}"\ntimeout = 9\n\n'
    path = write(".kimi-code/config.toml", old + theirs)
    hooks.install(HARNESSES["kimi"], around)
    assert path.read_text().startswith(theirs)
    assert hooks.look(HARNESSES["kimi"], around).state == "installed"
    hooks.uninstall(HARNESSES["kimi"], around)
    assert path.read_text() == theirs


def test_antigravity_objects_of_older_versions_go(around: Around, write: Write) -> None:
    """Whatever their name was, objects with nothing but our lines are ours; others' stay."""
    theirs = {"mine": {"Stop": [{"type": "command", "command": "./say.sh"}]}}
    old = {"memsync": {"Stop": [{"type": "command", "command": OLD}]}}
    path = write(".gemini/config/hooks.json", json.dumps(theirs | old))
    hooks.install(HARNESSES["antigravity"], around)
    assert list(json.loads(path.read_text())) == ["mine", "memsyncd"]
    hooks.uninstall(HARNESSES["antigravity"], around)
    assert json.loads(path.read_text()) == theirs


@pytest.mark.parametrize("name", list(HARNESSES))
def test_a_file_we_made_is_gone_afterwards(name: str, around: Around) -> None:
    """Where there was no file, there is none again, and no backup of nothing."""
    harness = HARNESSES[name]
    change = hooks.install(harness, around)
    assert (change.changed, change.backup) == (True, None)
    assert change.file.stat().st_mode & 0o777 == 0o600
    assert hooks.look(harness, around).state == "installed"
    assert hooks.uninstall(harness, around).changed
    assert not list(change.file.parent.glob("*"))
    assert hooks.look(harness, around).state == "absent"


@pytest.mark.parametrize("name", HARNESSES)
def test_a_file_we_made_is_gone_after_an_upgrade_too(name: str, around: Around) -> None:
    """A file with entries of ours is not what was before us: no copy is kept when this version's lines replace them."""
    path = hooks.install(HARNESSES[name], around).file
    path.write_text(path.read_text().replace(str(DROP), "/old/memsyncd/hooks/drop.py"))
    assert hooks.install(HARNESSES[name], around).backup is None
    assert hooks.uninstall(HARNESSES[name], around).changed
    assert not list(path.parent.glob("*"))


def test_our_own_file_of_an_older_version_is_gone_afterwards(around: Around, write: Write) -> None:
    """What is left of a file that was ours alone is nothing."""
    path = write(".copilot/hooks/memsyncd.json", json.dumps({"version": 1, "hooks": {"Stop": [{"bash": OLD}]}}))
    hooks.uninstall(HARNESSES["copilot"], around)
    assert not path.exists()


def test_what_others_put_into_our_file_stays(around: Around) -> None:
    """A hook that a person wrote into a file of ours is theirs."""
    harness = HARNESSES["copilot"]
    path = hooks.install(harness, around).file
    now = json.loads(path.read_text())
    now["hooks"]["Stop"].append({"type": "command", "bash": "./mine.sh"})
    path.write_text(json.dumps(now))
    hooks.uninstall(harness, around)
    assert json.loads(path.read_text()) == {"version": 1, "hooks": {"Stop": [{"type": "command", "bash": "./mine.sh"}]}}


@pytest.mark.parametrize("name", list(HARNESSES))
def test_a_project_has_its_own_file(name: str, home: Path, around: Around) -> None:
    """With a project the file is in its directory, where the harness has one; variables move only a user's."""
    from daemon.installing.errors import Unsupported

    variables = {"CLAUDE_CONFIG_DIR": "/x", "CODEX_HOME": "/x", "XDG_CONFIG_HOME": "/x", "KIMI_CODE_HOME": "/x"}
    project = Around(home, variables, around.uid, is_project=True)
    if name in ("kimi", "kimi-cli"):
        with pytest.raises(Unsupported, match="--project"):
            hooks.install(HARNESSES[name], project)
        return
    change = hooks.install(HARNESSES[name], project)
    assert change.file.is_relative_to(home)
    assert hooks.uninstall(HARNESSES[name], project).changed


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("kimi", "KIMI_CODE_HOME", "config.toml"),
        ("kimi-cli", "KIMI_SHARE_DIR", "config.toml"),
        ("copilot", "COPILOT_HOME", "hooks/memsyncd.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/memsyncd.js"),
    ],
)
def test_a_harness_s_variable_moves_its_file(name: str, variable: str, file: str, home: Path) -> None:
    """Where a harness lets its directory be moved, we go along."""
    moved = home / "moved"
    assert HARNESSES[name].file(home, {variable: str(moved)}, is_project=False) == moved / file
    assert HARNESSES[name].file(home, {variable: "relative"}, is_project=False).is_relative_to(home)
