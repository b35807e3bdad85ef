"""docs/api.md is true: its examples run, print what it says, and pass a strict type check."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import memsyncd

ROOT = Path(memsyncd.__file__).parents[1]
PAGE = ROOT / "docs" / "api.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n+```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """A block of code, the line it stands on, and what it prints."""

    line: int
    code: str
    output: str


def examples() -> Iterator[Example]:
    text = PAGE.read_text("utf-8")
    for block in _BLOCK.finditer(text):
        yield Example(text.count("\n", 0, block.start()) + 2, block[1], block[2] or "")


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: f"line {example.line}")
def test_an_example_runs_and_prints_what_the_page_says(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each stands alone, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    code = compile("\n" * (example.line - 1) + example.code, str(PAGE), "exec")
    exec(code, {"__name__": "__main__"})
    assert capsys.readouterr().out == example.output


@pytest.mark.timeout(240)
def test_the_examples_pass_a_strict_type_check(tmp_path: Path) -> None:
    """The public names keep their types through the lazy package."""
    files = []
    for example in examples():
        path = tmp_path / f"line_{example.line}.py"
        path.write_text(example.code, "utf-8")
        files.append(str(path))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=220, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_is_on_the_page() -> None:
    """What can be imported is told."""
    text = PAGE.read_text("utf-8")
    missing = [name for name in memsyncd.__all__ if name != "__version__" and not re.search(rf"`{name}\b", text)]
    assert missing == []
