"""docs/harnesses.md is true: its tables say what the data says."""

from pathlib import Path

import pytest

from daemon.installing.harness import Harness
from daemon.installing.harnesses import HARNESSES

PAGE = (Path(__file__).parents[2] / "docs" / "harnesses.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES)
def test_a_harness_s_row_and_section_are_there(harness: Harness) -> None:
    """Its files and the number of its events stand in its row, each event's name in its section or its file's."""
    assert harness.user
    [row] = [line for line in PAGE.splitlines() if line.startswith(f"| [{harness.name}](#")]
    home = Path("/home")
    assert f"`~/{harness.user.path(home, {}).relative_to(home)}`" in row
    project = f"`{harness.project.path(home, {}).relative_to(home)}`" if harness.project else "none"
    assert f"| {project} | {len(harness.events)} |" in row
    if harness.name not in ("codex", "kimi", "kimi-cli", "copilot"):  # told by what they are not
        missing = [event.name for event in harness.events if f"`{event.name}`" not in PAGE]
        assert missing == []


@pytest.mark.parametrize("harness", [h for h in HARNESSES.values() if h.tools], ids=lambda harness: harness.name)
def test_a_client_s_file_is_there(harness: Harness) -> None:
    """The MCP table names the file the entry goes to."""
    assert harness.tools
    assert harness.tools.user
    [row] = [line for line in PAGE.splitlines() if line.startswith(f"| {harness.name} |")]
    home = Path("/home")
    assert f"`~/{harness.tools.user.path(home, {}).relative_to(home)}`" in row
    project = harness.tools.project
    assert (f"`{project.path(home, {}).relative_to(home)}`" if project else "not known") in row
