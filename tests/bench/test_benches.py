"""The benchmarks run: each is started as a user starts it, in its short form. What they measure is not judged here."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench import table
from bench.claude_code_events import Dropper
from daemon.intake.document import handoff_from
from memsyncd.hooks.adapters import records_for

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["ingest", "extractions", "idle", "handoffs"])
def test_a_benchmark_prints_its_table(name: str) -> None:
    """Each ends by itself with figures on its standard output, every one of them told as met or missed or neither."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", name], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"== {name}" in done.stdout
    assert table.MET in done.stdout or table.MISSED in done.stdout


def test_an_unknown_benchmark_is_refused() -> None:
    """A mistyped name is wrong use, not an empty table."""
    done = subprocess.run(
        [sys.executable, "-m", "bench", "nothing"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")


def test_what_is_dropped_for_measuring_is_what_a_hook_drops(tmp_path: Path) -> None:
    """Each made-up handoff parses and gives one record of its session, of 1 to 2.5 KB as its harness sends them."""
    dropper = Dropper(tmp_path, tmp_path / "shop")
    stems = [dropper.drop(action, given) for action, given in dropper.day(12, 2)]
    files = [tmp_path / "spools" / "claude-code" / "pending" / f"{stem}.json" for stem in stems]
    kinds = []
    for file in files:
        handoff = handoff_from(file.read_bytes(), stem=file.stem)
        (record,) = records_for(handoff, "claude-code")
        kinds.append(record.kind)
        assert record.session_id in ("s0", "s1")
        assert 500 < file.stat().st_size < 3_000
    assert kinds[::2] == ["user_prompt", "tool_result", "tool_failure", "tool_result", "tool_result", "assistant_stop"]


def test_a_percentile_is_one_of_the_values() -> None:
    """The 99th of a hundred values is the second largest; of few values it is the largest."""
    assert table.percentile(range(100, 0, -1), 99) == 99
    assert table.percentile([3.0, 1.0, 2.0], 99) == 3.0
    assert table.percentile([3.0, 1.0, 2.0], 50) == 2.0
