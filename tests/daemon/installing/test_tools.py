"""The MCP server's entry in each client's configuration."""

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject, settings

from daemon.installing import hooks, tools
from daemon.installing.errors import CannotInstall, Unsupported
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around
from tests.daemon.installing.conftest import Write
from tests.daemon.installing.documents import toml_documents
from tests.daemon.installing.test_hooks_survive import home_with

COMMAND = ("/opt/memsyncd/bin/memsyncd", "mcp")


def document(path: Path) -> Any:
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


@pytest.mark.parametrize("name", HARNESSES)
def test_in_and_out_of_a_file_of_others(name: str, around: Around, write: Write) -> None:
    """For each client: beside another server, twice the same as once, and out without a trace."""
    harness = HARNESSES[name]
    assert harness.tools.user
    path = harness.tools.user.path(around.root, {})
    key = harness.tools.path[0]
    before = (
        f'# mine\n[{key}.other]\ncommand = "x"'
        if path.suffix == ".toml"
        else f'{{\n  "{key}": {{"other": {{"command": "x"}}}} // mine\n}}'
    )
    write(str(path), before)
    assert tools.install(harness, around, COMMAND).changed
    installed = path.read_bytes()
    assert not tools.install(harness, around, COMMAND).changed
    assert path.read_bytes() == installed
    assert b"mine" in installed
    assert b"/opt/memsyncd/bin/memsyncd" in installed
    assert tools.uninstall(harness, around).changed
    assert path.read_text() == before
    assert not tools.uninstall(harness, around).changed


@pytest.mark.parametrize("is_server_first_in", [True, False])
@pytest.mark.parametrize("is_server_first_out", [True, False])
def test_hooks_in_the_same_file_share_its_backup(
    is_server_first_in: bool, is_server_first_out: bool, around: Around, write: Write
) -> None:
    """It is the file before both, whichever came first, and both gone leave that file and no backup."""
    before = '{ "theme": "x" }'
    gemini = HARNESSES["gemini-cli"]
    path = write(".gemini/settings.json", before)
    ins = [lambda: tools.install(gemini, around, COMMAND), lambda: hooks.install(gemini, around)]
    outs = [lambda: tools.uninstall(gemini, around), lambda: hooks.uninstall(gemini, around)]
    backups = [step().backup for step in (ins if is_server_first_in else reversed(ins))]
    assert backups[0] and backups[0] == backups[1] and backups[0].read_text() == before
    for step in outs if is_server_first_out else reversed(outs):
        assert step().changed
    assert path.read_text() == before
    assert os.listdir(path.parent) == ["settings.json"]


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("claude-code", {"type": "stdio", "command": COMMAND[0], "args": ["mcp"], "env": {"MEMSYNCD_HOME": "/m"}}),
        ("codex", {"command": COMMAND[0], "args": ["mcp"], "env": {"MEMSYNCD_HOME": "/m"}}),
        ("copilot", {"type": "local", "tools": ["*"], "command": COMMAND[0], "args": ["mcp"], "env": {"MEMSYNCD_HOME": "/m"}}),
        ("opencode", {"type": "local", "command": list(COMMAND), "enabled": True, "environment": {"MEMSYNCD_HOME": "/m"}}),
    ],
)  # fmt: skip
def test_a_new_file_holds_the_entry_and_is_gone_afterwards(name: str, entry: dict[str, Any], home: Path) -> None:
    """Each client's own form, with MEMSYNCD_HOME where it is set."""
    harness = HARNESSES[name]
    around = Around(home, {}, os.geteuid(), data="/m")
    path = tools.install(harness, around, COMMAND).file
    assert document(path)[harness.tools.path[0]] == {"memsyncd": entry}
    assert tools.uninstall(harness, around).changed
    assert not path.exists()


def test_what_a_person_added_to_the_entry_stays(around: Around, write: Write) -> None:
    """A time limit of their own, say; only another command is replaced."""
    entry = {"command": COMMAND[0], "args": ["mcp"], "timeout": 9}
    path = write(".gemini/settings.json", json.dumps({"mcpServers": {"memsyncd": entry}}))
    assert not tools.install(HARNESSES["gemini-cli"], around, COMMAND).changed
    assert tools.install(HARNESSES["gemini-cli"], around, ("/new", "mcp")).changed
    assert document(path)["mcpServers"]["memsyncd"]["command"] == "/new"


def test_hooks_and_server_in_one_file_come_and_go_in_any_order(around: Around, write: Write) -> None:
    """Gemini CLI keeps both in its settings; neither takes the other along."""
    path = write(".gemini/settings.json", '{\n  "theme": "dark" // mine\n}\n')
    harness = HARNESSES["gemini-cli"]
    hooks.install(harness, around)
    tools.install(harness, around, COMMAND)
    hooks.uninstall(harness, around)
    assert b'"hooks"' not in path.read_bytes()
    assert b"mcpServers" in path.read_bytes()
    tools.uninstall(harness, around)
    assert path.read_text() == '{\n  "theme": "dark" // mine\n}\n'


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "x" } }',
        '[mcp_servers]\nmemsyncd = { command = "old", args = [] }',
        "mcp_servers = 5",
    ],
)
def test_toml_written_another_way_is_left_alone(text: str, around: Around, write: Write) -> None:
    """An inline table cannot be added to without writing somebody's line anew."""
    path = write(".codex/config.toml", text)
    with pytest.raises(CannotInstall, match="by hand"):
        tools.install(HARNESSES["codex"], around, COMMAND)
    assert path.read_text() == text


def test_an_older_table_and_its_parts_are_replaced(around: Around, write: Write) -> None:
    """With the tables below it, and nobody else's."""
    text = '[mcp_servers.memsyncd]\ncommand = "old"\n[mcp_servers.memsyncd.env]\nA = "1"\n\n# next\n[mcp_servers.x]\ncommand = "x"\n'
    path = write(".codex/config.toml", text)
    tools.install(HARNESSES["codex"], around, COMMAND)
    assert set(document(path)["mcp_servers"]["memsyncd"]) == {"command", "args"}
    tools.uninstall(HARNESSES["codex"], around)
    assert path.read_text() == '# next\n[mcp_servers.x]\ncommand = "x"\n'


@settings(max_examples=20, deadline=None)
@given(text=toml_documents())
def test_any_toml_survives(text: str) -> None:
    """In and out again is the identity to the byte; everything else says what it said."""
    try:
        before = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        reject()
    harness = HARNESSES["codex"]
    with home_with(harness, "{}") as (around, hooks_file):
        path = hooks_file.with_name("config.toml")
        path.write_bytes(text.encode())
        tools.install(harness, around, COMMAND)
        after = tomllib.loads(path.read_bytes().decode().removeprefix("\ufeff"))
        assert after.pop("mcp_servers") == {"memsyncd": {"command": COMMAND[0], "args": ["mcp"]}}
        assert after == before
        tools.uninstall(harness, around)
        assert path.read_bytes() == text.encode()


CLIENT = """#!/bin/sh
echo "$@" >> "$HOME/calls"
case "$2" in
add-json) printf '{"mcpServers": {"%s": %s}}' "$5" "$6" > "$HOME/.claude.json" ;;
remove) [ "$5" = memsyncd ] && echo '{"mcpServers": {}}' > "$HOME/.claude.json" ;;
*) echo "no such command" >&2; exit 3 ;;
esac
"""


@pytest.fixture
def client(home: Path) -> Around:
    """Return surroundings in which Claude Code's own command is on the path."""
    program = home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(CLIENT)
    program.chmod(0o755)
    return Around(home, {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(home)}, os.geteuid())


def test_a_client_with_a_command_of_its_own_is_asked(client: Around, home: Path) -> None:
    """Claude Code writes its file all the time, so its own command does it; an entry that is right is left, another
    one removed first."""
    harness = HARNESSES["claude-code"]
    assert tools.install(harness, client, COMMAND).changed
    assert not tools.install(harness, client, COMMAND).changed
    assert tools.install(harness, client, ("/new", "mcp")).changed
    assert tools.uninstall(harness, client).changed
    assert not tools.uninstall(harness, client).changed
    calls = [line.split(" ")[1] for line in (home / "calls").read_text().splitlines()]
    assert calls == ["add-json", "remove", "add-json", "remove"]


def test_a_client_that_fails_is_told_of(client: Around, home: Path) -> None:
    """Its own words are passed on."""
    (home / "bin" / "claude").write_text("#!/bin/sh\necho 'not logged in' >&2\nexit 1\n")
    with pytest.raises(CannotInstall, match="exited 1: not logged in"):
        tools.install(HARNESSES["claude-code"], client, COMMAND)


def test_where_no_place_is_known(around: Around) -> None:
    """A project of a client that has none is refused with a sentence."""
    for name in ("windsurf", "kimi-cli"):
        with pytest.raises(Unsupported, match="--project"):
            tools.install(HARNESSES[name], replace(around, is_project=True), COMMAND)


def test_the_command_starts_a_server(home: Path, around: Around) -> None:
    """What is written down can be run: it is this installation's own program."""
    program, *words = tools.server_command(Around(home, {}, os.geteuid(), is_project=True))
    assert words == ["mcp", "--project", str(home)]
    assert Path(program).parent == Path(sys.executable).parent
    told = subprocess.run([program, "mcp", "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert "Usage: memsyncd mcp" in told.stdout
