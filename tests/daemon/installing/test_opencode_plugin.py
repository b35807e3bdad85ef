"""The module OpenCode loads: it is valid, runs the lines, and fails at nothing. With node, where there is one."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from daemon.installing import hooks
from daemon.installing.forms.script import MARK
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around

NODE = shutil.which("node")
OPENCODE = HARNESSES["opencode"]

PLAY = """
import { Memsyncd } from "./memsyncd.mjs";
const client = {
  session: {
    messages: async ({ path }) => ({
      data: [
        { info: { id: "m1", role: "user" }, parts: [{ type: "text", text: "why?" }] },
        { info: { id: "m2", role: "assistant" }, parts: [{ type: "tool" }, { type: "text", text: "Because." }] },
      ],
    }),
  },
};
const hooks = await Memsyncd({ client, directory: process.env.HOME });
const wait = () => new Promise((resolve) => setTimeout(resolve, 20));
const told = async (type, properties) => hooks.event({ event: { type, properties } });
await told("session.created", { info: { id: "s1" } });
await told("session.created", { info: { id: "child", parentID: "s1" } });
await told("server.connected", {});
await hooks["chat.message"](
  { sessionID: "s1", messageID: "m1" },
  { message: {}, parts: [{ type: "text", text: "why?" }, { type: "text", text: "noise", synthetic: true }] },
);
await hooks["chat.message"]({ sessionID: "child" }, { parts: [{ type: "text", text: "an assignment" }] });
const system = [];
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, { system });
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1", callID: "c1" }, { args: { command: "make" } });
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s1", callID: "c1" }, { output: "done" });
await hooks["tool.execute.after"]({ tool: "read", sessionID: "child", callID: "c2", args: { filePath: "x" } }, { output: "y" });
await hooks["tool.execute.after"]({ tool: "test", sessionID: "s1", callID: "c3" }, { output: "2 failed", metadata: { exit: 1 } });
const part = { type: "tool", tool: "grep", callID: "c4", sessionID: "child" };
await told("message.part.updated", { part: { ...part, state: { status: "running", input: { pattern: "x" } } } });
await told("message.part.updated", { part: { ...part, state: { status: "error", input: { pattern: "x" }, error: "no rg" } } });
await told("message.part.updated", { part: { type: "text", text: "x" } });
await told("message.part.updated", {});
await hooks["experimental.session.compacting"]({ sessionID: "s1" }, { context: [] });
await told("session.idle", { sessionID: "s1" });
await told("session.idle", { sessionID: "child" });
await told("session.deleted", { info: { id: "s1" } });
// whatever comes, nothing is thrown
for (const hook of Object.values(hooks)) {
  await hook(undefined ?? {}, undefined);
  await hook({}, {});
}
console.log(JSON.stringify(system));
"""


def module(around: Around) -> Path:
    return hooks.install(OPENCODE, around).file


def play(path: Path, home: Path) -> list[str]:
    """Run the play against a module; return what was put into the system prompt."""
    assert NODE
    shutil.copy(path, home / "memsyncd.mjs")
    (home / "play.mjs").write_text(PLAY)
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    ended = subprocess.run(
        [NODE, str(home / "play.mjs")], env=environ, cwd=home, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    system: list[str] = json.loads(ended.stdout)
    return system


def handoffs(home: Path) -> dict[tuple[str, str], dict[str, Any]]:
    pending = home / ".local/share/memsyncd/spools/opencode/pending"
    found = [json.loads(file.read_bytes()) for file in pending.glob("*.json")]
    return {(handoff["action"], handoff["hook_input"].get("tool_name", "")): handoff for handoff in found}


@pytest.mark.skipif(NODE is None, reason="no node here")
def test_each_thing_that_happens_is_a_handoff(home: Path, around: Around) -> None:
    """Node runs the module: prompts, tools, answers and ends arrive in the names the other harnesses use; a subagent's
    tools are told as its own, and its assignment is no person's prompt."""
    assert play(module(around), home) == []
    found = handoffs(home)
    assert set(found) == {
        ("session-start", ""), ("user-prompt", ""), ("post-tool", "bash"), ("post-tool", "read"), ("post-tool", ""),
        ("post-tool", "test"), ("post-tool-failure", "grep"), ("flush", ""), ("stop", ""),
    }  # fmt: skip
    prompt = found["user-prompt", ""]
    assert prompt["harness"] == "opencode"
    assert prompt["hook_input"] == {
        "hook_event_name": "chat.message", "cwd": str(home), "session_id": "s1", "prompt_id": "m1", "prompt": "why?",
    }  # fmt: skip
    assert found["post-tool", "bash"]["hook_input"]["tool_input"] == {"command": "make"}
    assert found["post-tool", "bash"]["hook_input"]["tool_response"] == "done"
    assert found["post-tool", "test"]["hook_input"]["tool_response"] == {"output": "2 failed", "exit_code": 1}
    failed = found["post-tool-failure", "grep"]["hook_input"]
    assert (failed["error"], failed["tool_input"], failed["tool_use_id"]) == ("no rg", {"pattern": "x"}, "c4")
    for subagent in (found["post-tool", "read"]["hook_input"], failed):
        assert (subagent["session_id"], subagent["agent_id"]) == ("s1", "child")
    assert found["stop", ""]["hook_input"]["last_assistant_message"] == "Because."


@pytest.mark.skipif(NODE is None, reason="no node here")
@pytest.mark.parametrize(
    ("printed", "recalled"),
    [
        ("Releases are cut on Fridays.", ["Releases are cut on Fridays."]),
        ('{"hookSpecificOutput": {"additionalContext": "Known: x"}}', ["Known: x"]),
        ('{"odd": 1}', []),
        ("", []),
    ],
)
def test_what_a_prompt_s_hook_prints_reaches_the_model(
    printed: str, recalled: list[str], home: Path, around: Around
) -> None:
    """A recall is put into the system prompt of that session, whichever form it has."""
    path = module(around)
    (home / "said").write_text(printed)
    lines = json.dumps({"chat.message": f"cat {home}/said"})
    path.write_text(re.sub(r"^const LINES = .*$", f"const LINES = {lines};", path.read_text(), flags=re.MULTILINE))
    assert play(path, home) == recalled


@pytest.mark.skipif(NODE is None, reason="no node here")
def test_lines_that_fail_hurt_nobody(home: Path, around: Around) -> None:
    """Programs that are gone, or a directory that is: OpenCode goes on."""
    path = module(around)
    path.write_text(path.read_text().replace(" -I -S ", "/gone -I -S ").replace("2>/dev/null || true", ""))
    assert play(path, home) == []
    assert handoffs(home) == {}


def test_the_lines_are_what_command_line_makes(around: Around) -> None:
    """Without node, too: the one line that differs from the template is JSON, and so a JavaScript object."""
    text = module(around).read_text()
    assert text.startswith(MARK)
    [line] = [line for line in text.splitlines() if line.startswith("const LINES = ")]
    lines = json.loads(line.removeprefix("const LINES = ").removesuffix(";"))
    assert lines == {entry.event: entry.handler["command"] for entry in hooks.wanted(OPENCODE, around)}
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|//.*', "", text)
    assert all(bare.count(opening) == bare.count(closing) for opening, closing in ("()", "[]", "{}"))


def test_an_older_module_is_replaced(around: Around) -> None:
    """What begins as ours is ours, whatever follows."""
    path = around.root / ".config/opencode/plugins/memsyncd.js"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text(MARK + ", of another version\nconst LINES = {odd};\n")
    assert hooks.look(OPENCODE, around).state == "absent"
    assert module(around) == path
    assert hooks.look(OPENCODE, around).state == "installed"
