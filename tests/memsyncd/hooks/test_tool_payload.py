"""What is kept of a tool's use, as tables (facts 9.1 to 9.9)."""

import hashlib
import json
from typing import Any

import pytest

from memsyncd.hooks import tool_payload
from memsyncd.hooks.bounding import ends, head, unredacted


def capture(tool: Any, tool_input: Any, response: Any = None, **fields: Any) -> tuple[str, dict[str, Any]]:
    hook_input = {"tool_name": tool, "tool_input": tool_input, "tool_response": response, **fields}
    return tool_payload.capture(hook_input, failed=None, directory="/w/shop", redact=unredacted)


@pytest.mark.parametrize(
    ("response", "failed"),
    [
        ({"exit_code": 1}, True),
        ({"exitCode": 0}, False),
        ({"exit_code": 1, "isError": False, "success": True}, True),
        ({"exit_code": 0, "isError": True}, False),
        ({"exit_code": True}, None),
        ({"exit_code": False, "success": True}, False),
        ({"exit_code": "1"}, None),
        ({"isError": True}, True),
        ({"is_error": False, "success": False}, False),
        ({"success": False}, True),
        ({"success": True}, False),
        ({"success": 1}, None),
        ({"stdout": "x", "stderr": ""}, None),
        ({}, None),
        ("text", None),
        (None, None),
    ],
)
def test_failure_is_told_by_exit_code_then_is_error_then_success(response: Any, failed: bool | None) -> None:
    """The first indicator that is there decides; a boolean is no exit code; without any it is unknown."""
    kind, payload = capture("Bash", {"command": "x"}, response)
    assert payload["failed"] is failed
    assert kind == ("tool_failure" if failed else "tool_result")


@pytest.mark.parametrize(("interrupted", "failed"), [(False, False), (True, None), ("no", None)])
def test_a_shell_that_ran_to_its_end_has_succeeded(interrupted: Any, failed: bool | None) -> None:
    """PostToolUse comes after success only, so a shell's response there that was not interrupted is a success."""
    response = {"stdout": "", "stderr": "", "interrupted": interrupted, "isImage": False}
    _, payload = capture("Bash", {"command": "x"}, response, hook_event_name="PostToolUse")
    assert payload["failed"] is failed
    assert capture("Bash", {"command": "x"}, response)[1]["failed"] is None


def test_common_fields_tell_the_tool_and_who_used_it() -> None:
    """Tool, duration and the agent's role are always there; id and type of a subagent within their bounds."""
    _, payload = capture("Read", {"file_path": "/a"}, duration_ms=12)
    assert payload == {"tool": "Read", "failed": None, "agent_role": "main", "duration_ms": 12, "path": "/a"}
    _, payload = capture("Read", {"file_path": "/a"}, agent_id="i" * 300, agent_type="t" * 300, duration_ms=True)
    assert (payload["agent_role"], len(payload["agent_id"]), len(payload["agent_type"])) == ("subagent", 200, 200)
    assert "duration_ms" not in payload


@pytest.mark.parametrize(("name", "tool_input"), [(None, None), (7, [1]), ("", "text")])
def test_a_nameless_tool_is_unknown(name: Any, tool_input: Any) -> None:
    """A missing name becomes `unknown`, an input that is no object is empty."""
    _, payload = capture(name, tool_input)
    assert (payload["tool"], payload["input_keys"]) == ("unknown", [])


@pytest.mark.parametrize(
    ("tool", "tool_input", "path", "chars"),
    [
        ("Write", {"file_path": "/w/shop/a.py", "content": "x" * 15}, "/w/shop/a.py", 15),
        ("Edit", {"file_path": "/w/a", "old_string": "secret", "new_string": "x" * 15}, "/w/a", 15),
        ("MultiEdit", {"file_path": "/a", "edits": [{"new_string": "abc"}, {"new_string": "de"}, 7]}, "/a", 5),
        ("NotebookEdit", {"notebook_path": "/a.ipynb", "new_source": "abc"}, "/a.ipynb", 3),
        ("Edit", {"file_path": "src/../b.py", "new_string": ""}, "/w/shop/b.py", 0),
        ("Edit", {"file_path": "~/x"}, "~/x", 0),
        ("Edit", {"file_path": "C:\\x"}, "C:\\x", 0),
        ("Edit", {"file_path": 7}, "", 0),
    ],
)
def test_an_edit_keeps_the_path_and_how_much(tool: str, tool_input: Any, path: str, chars: int) -> None:
    """Edits keep the path, absolute from where the agent stood, and the length of the new text, never a text."""
    _, payload = capture(tool, tool_input, {"filePath": "/a", "oldString": "secret"})
    assert (payload["path"], payload["mutation_chars"]) == (path, chars)
    assert set(payload) == {"tool", "failed", "agent_role", "path", "mutation_chars"}


def test_reading_keeps_the_path_only() -> None:
    """Of a file that was read nothing but its path is kept."""
    _, payload = capture("Read", {"file_path": "/a"}, {"file": {"content": "private"}})
    assert set(payload) == {"tool", "failed", "agent_role", "path"}


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("python -m pytest tests/x.py -q", "test"),
        ("pytest", "test"),
        (".venv/bin/pytest -x", "test"),
        ("cd api && FOO=1 pytest", "test"),
        ("uv run pytest", "test"),
        ("timeout 60 py.test", "test"),
        ("bash -c 'pytest -q'", "test"),
        ("npx jest", "test"),
        ("vitest run", "test"),
        ("go test ./...", "test"),
        ("cargo +nightly test", "test"),
        ("mvn -q test", "test"),
        ("./gradlew test", "test"),
        ("make -j4 test", "test"),
        ("npm test", "test"),
        ("npm run test:unit", "test"),
        ("yarn test", "test"),
        ("pnpm run build", "build"),
        ("cargo build --release", "build"),
        ("go build ./cmd", "build"),
        ("make build && make test", "test"),
        ("make build", "build"),
        ("make \\\n  build", "build"),
        ("cd api\n\n  make test", "test"),
        ("make\ntest -f out", "shell"),
        ("make -C docs html", "shell"),
        ("cat pytest.ini", "shell"),
        ("grep -rn pytest .", "shell"),
        ("pytest-watch", "shell"),
        ("git commit -m 'make the test faster'", "shell"),
        ("ls", "shell"),
        ("", "shell"),
    ],
)
def test_commands_have_a_kind(command: str, kind: str) -> None:
    """Test runners and builds are told by the program that a command line starts, anything else is `shell`."""
    assert tool_payload.kind(command) == kind


@pytest.mark.parametrize("tool", ["Bash", "mcp__box__run", "shell"])
def test_whatever_has_a_command_is_a_command(tool: str) -> None:
    """Any tool with a command keeps it with its kind and a glance at the result."""
    _, payload = capture(
        tool, {"command": "make test"}, {"stdout": "ok", "stderr": "", "sandbox": "x", "success": True}
    )
    assert (payload["command"], payload["kind"]) == ("make test", "test")
    assert payload["preview"] == {"stdout": "ok", "success": True}


def test_a_command_in_words_is_joined() -> None:
    """A command given as a list of words is one line."""
    assert capture("shell", {"command": ["go", "test"]})[1]["command"] == "go test"


def test_a_long_output_keeps_both_ends() -> None:
    """Of a long output the beginning and the end are kept, and its length and hash, within the bound."""
    output = "first\n" + "x" * 2_000_000 + "\nlast"
    _, payload = capture("Bash", {"command": "y" * 5000}, {"stdout": output, "stderr": "also"})
    shown = payload["preview"]
    assert shown["stdout"].startswith("first\n")
    assert shown["stdout"].endswith("\nlast")
    assert shown["left_out"]["stdout"] == {
        "chars": len(output),
        "sha256": hashlib.sha256(output.encode()).hexdigest(),
    }
    assert len(json.dumps(payload)) < 5200
    assert payload["command"].startswith("y" * 2000 + "\n")


def test_a_picture_is_a_hash_and_a_size() -> None:
    """Of a picture not a byte is kept."""
    _, payload = capture("Bash", {"command": "plot"}, {"stdout": "iVBOR" * 1000, "isImage": True})
    assert payload["preview"]["left_out"]["stdout"]["chars"] == 5000
    assert "iVBOR" not in json.dumps(payload)
    _, payload = capture("Bash", {"command": "plot"}, {"output": "data:image/png;base64,iVBOR"})
    assert "iVBOR" not in json.dumps(payload)


def test_content_blocks_show_their_text() -> None:
    """Blocks of text are shown as text, other blocks by their kind, their size and a hash that tells them again."""
    blocks = [{"type": "text", "text": "hello"}, {"type": "image", "data": "x" * 500}]
    _, payload = capture("mcp__box__run", {"command": "c"}, blocks)
    known = hashlib.sha256(b"x" * 500).hexdigest()[:16]
    assert payload["preview"] == {"content": f"hello\n[image of 500 characters, sha256 {known}]"}


def test_a_response_without_telling_fields_shows_their_names() -> None:
    """Where nothing of a response is to be kept, up to twenty of its key names are."""
    _, payload = capture("Bash", {"command": "c"}, {f"key{number:02}": number for number in range(30)})
    assert payload["preview"]["keys"] == [f"key{number:02}" for number in range(20)]


def test_searches_keep_what_was_searched() -> None:
    """Searching tools keep pattern, path, query and address, and nothing of what was found."""
    _, payload = capture("Grep", {"pattern": "p" * 2000, "path": "/a", "url": 7, "glob": "x"}, {"content": "found"})
    assert payload["pattern"].startswith("p" * 1000 + "\n...")
    assert payload["path"] == "/a"
    assert set(payload) == {"tool", "failed", "agent_role", "pattern", "path"}


def test_other_tools_keep_key_names_only() -> None:
    """Of any other tool's input the sorted key names are kept, no value."""
    _, payload = capture("Task", {"prompt": "private", "description": "private"}, {"content": "private"})
    assert payload["input_keys"] == ["description", "prompt"]
    assert "private" not in json.dumps(payload)


@pytest.mark.parametrize(
    ("error", "response", "text"),
    [
        ("Exit code 2", {"exit_code": 2}, "Exit code 2"),
        (None, {"exit_code": 2, "stderr": "no such file", "stdout": "x"}, "no such file"),
        (None, {"isError": True, "content": [{"type": "text", "text": "c"}]}, "c"),
        (None, {"isError": True, "other": "private"}, ""),
        ({"code": 7}, {"exit_code": 2}, '{"code": 7}'),
    ],
)
def test_a_failure_has_an_error_text(error: Any, response: Any, text: str) -> None:
    """A failure's error is the event's own, else what the response says went wrong."""
    kind, payload = capture("Bash", {"command": "x"}, response, error=error)
    assert (kind, payload["error"]) == ("tool_failure", text)
    _, payload = capture("Bash", {"command": "x"}, {"exit_code": 1}, error="e" * 90_000)
    assert len(payload["error"]) < 2600


def test_cuts_say_what_is_missing() -> None:
    """A cut text tells how many characters were left out; one within the limit is unchanged but for its margins."""
    assert head(" abc \n", 10, unredacted) == "abc"
    assert head("a" * 30, 10, unredacted) == "a" * 10 + "\n...[20 characters left out]"
    assert ends("a" * 10 + "b" * 80 + "c" * 10, 30, unredacted) == (
        "a" * 10 + "\n...[70 characters left out]...\n" + "b" * 10 + "c" * 10
    )
