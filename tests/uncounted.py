"""The environment for a child whose coverage is not counted: it may not write, tells what it has loaded, or runs nothing
that others do not. Counting costs a daemon as much processor time again as its start."""

import os

import pytest


def environment() -> dict[str, str]:
    """Return this process's environment without what makes coverage start in a child."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}


def leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no child of this test be counted."""
    for name in os.environ.keys() - environment().keys():
        monkeypatch.delenv(name)
