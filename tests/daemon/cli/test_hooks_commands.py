"""`hooks install`, `uninstall` and `list`, and `mcp install`, from the outside."""

import json
import os
from pathlib import Path

import pytest

from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return Surroundings(environ={"PATH": "/usr/bin:/bin"}, home=home, uid=os.getuid(), platform="linux")


def test_install_twice_list_and_uninstall(around: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """Each says in a sentence what it did, with exit code 0, and says when there was nothing to do."""
    words = ["--harness", "claude-code"]
    settings = around.home / ".claude/settings.json"
    for command, told in (
        (["list", *words], f"claude-code  absent     {settings}\n"),
        (["install", *words], f"9 hooks of Claude Code put into {settings}.\n"),
        (["install", *words], f"{settings} has them already: 9 hooks of Claude Code.\n"),
        (["list", *words], f"claude-code  installed  {settings}, 9 events\n"),
        (["uninstall", *words], f"Our hooks are out of {settings}.\n"),
        (["uninstall", *words], f"{settings} has no hooks of ours.\n"),
    ):
        assert main(["hooks", *command], around) == 0
        assert capsys.readouterr() == (told, "")


@pytest.mark.parametrize("words", [["hooks", "install"], ["hooks", "uninstall"], ["hooks", "list"], ["mcp", "install"]])
def test_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Each has its help."""
    assert main([*words, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: memsyncd {' '.join(words)}")


def test_json(around: Surroundings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` prints one document; what a person should still do is in it."""
    project = tmp_path / "project"
    (project / ".codex").mkdir(parents=True)
    (project / ".codex" / "hooks.json").write_text("{}")
    file = str(project / ".codex" / "hooks.json")
    words = ["--harness", "codex", "--project", str(project), "--json"]
    assert main(["hooks", "install", *words], around) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("events")[0] == "SessionStart"
    assert "/hooks" in told.pop("notes")[0]
    assert told == {
        "harness": "codex", "scope": "project", "file": file, "changed": True, "backup": f"{file}.before-memsyncd",
    }  # fmt: skip
    assert main(["hooks", "list", *words], around) == 0
    user, shared = json.loads(capsys.readouterr().out)["hooks"]
    assert (user["scope"], user["state"]) == ("user", "absent")
    assert (shared["scope"], shared["state"], shared["missing"]) == ("project", "installed", [])
    assert main(["hooks", "uninstall", *words], around) == 0
    assert json.loads(capsys.readouterr().out)["changed"] is True
    assert os.listdir(project / ".codex") == ["hooks.json"]


def test_list_shows_every_harness(around: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a harness named, all that are known, one line each."""
    assert main(["hooks", "list"], around) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "claude-code", "codex", "cursor", "kimi", "kimi-cli", "antigravity", "gemini-cli", "copilot", "opencode",
        "windsurf",
    ]  # fmt: skip
    assert {line.split()[1] for line in lines} == {"absent"}


def test_what_cannot_be_parsed_exits_1_with_its_line(around: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """The file stays as it is, and standard error says where the fault is."""
    path = around.home / ".claude/settings.json"
    path.parent.mkdir(mode=0o700)
    path.write_text('{\n  "a": 1,,\n}')
    for command in ("install", "uninstall"):
        assert main(["hooks", command, "--harness", "claude-code"], around) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert (
            printed.err
            == f"memsyncd: {path} cannot be parsed: line 2, column 10: a name in double quotes is missing. It was left as it is.\n"
        )
    assert path.read_text() == '{\n  "a": 1,,\n}'
    assert main(["hooks", "list", "--harness", "claude-code"], around) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--harness", "nano"], "known are claude-code, codex"),
        (["--harness", "kimi", "--project", "."], "without --project"),
        ([], "--harness"),
        (["--harness", "codex", "--project", "/no/such/directory"], "there is no directory"),
    ],
)
def test_wrong_use_exits_2(
    words: list[str], told: str, around: Surroundings, capsys: pytest.CaptureFixture[str]
) -> None:
    """A harness nobody knows, or a place it does not have."""
    assert main(["hooks", "install", *words], around) == 2
    assert told in capsys.readouterr().err


def test_a_disk_that_refuses_is_a_sentence(around: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in the place of a directory, say."""
    (around.home / ".claude").write_text("")
    assert main(["hooks", "install", "--harness", "claude-code"], around) == 1
    assert "Not a directory" in capsys.readouterr().err


def test_memsyncd_home_goes_along(around: Surroundings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With MEMSYNCD_HOME set, the lines carry it, as `hooks command` prints them."""
    moved = Surroundings(
        environ={"MEMSYNCD_HOME": str(tmp_path / "m"), "PATH": ""}, home=around.home, uid=around.uid, platform="linux"
    )
    assert main(["hooks", "command", "stop", "--harness", "claude-code"], moved) == 0
    line = capsys.readouterr().out.strip()
    assert main(["hooks", "install", "--harness", "claude-code"], moved) == 0
    assert json.dumps(line) in (around.home / ".claude/settings.json").read_text()
    capsys.readouterr()
    assert main(["hooks", "list", "--harness", "claude-code"], around) == 0
    assert "outdated" in capsys.readouterr().out


def test_mcp_install_and_uninstall(around: Surroundings, capsys: pytest.CaptureFixture[str]) -> None:
    """The server's entry, in and out; `mcp` alone still is the server."""
    words = ["--harness", "cursor"]
    file = around.home / ".cursor/mcp.json"
    for command, told in (
        ("install", f"The MCP server is in {file}.\n"),
        ("install", f"The MCP server was already in {file}.\n"),
        ("uninstall", f"The MCP server is out of {file}.\n"),
        ("uninstall", f"{file} has no entry of ours.\n"),
    ):
        assert main(["mcp", command, *words], around) == 0
        assert capsys.readouterr().out == told
