"""docs/harnesses.md is true: its tables say what the data says."""

from pathlib import Path

import pytest

from daemon.installing.harness import Harness
from daemon.installing.harnesses import HARNESSES
from memsyncd.hooks.adapter import Adapter
from memsyncd.hooks.adapters import ADAPTERS

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


@pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES)
def test_a_client_s_file_is_there(harness: Harness) -> None:
    """The MCP table names the file the entry goes to."""
    assert harness.tools.user
    [row] = [line for line in PAGE.splitlines() if line.startswith(f"| {harness.name} |")]
    home = Path("/home")
    assert f"`~/{harness.tools.user.path(home, {}).relative_to(home)}`" in row
    project = harness.tools.project
    assert (f"`{project.path(home, {}).relative_to(home)}`" if project else "not known") in row


@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_what_an_adapter_reads_is_there(adapter: Adapter) -> None:
    """Its row names its session's and its turn's fields and what becomes of exit code and time, as its data has them."""
    [row] = [line for line in PAGE.splitlines() if line.startswith(f"| `{adapter.name}` |")]
    session, turn, _, _, end, code, time = [cell.strip() for cell in row.split("|")[2:9]]
    if adapter.name != "generic":
        assert f"`{adapter.fields.session[0][0]}`" in session
        assert ("never" in end or "deleted only" in end) is not adapter.tells_end
    if adapter.name not in ("generic", "opencode"):
        assert turn == (f"`{adapter.fields.turn[0][0]}`" if adapter.fields.turn else "none")
    assert code == adapter.ending.exit_two
    if adapter.ending.default_seconds:
        assert f"{adapter.ending.default_seconds:g} s" in time
        assert ("milliseconds" in time) is (adapter.ending.units_per_second == 1000)
