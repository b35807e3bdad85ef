"""The environment for a child whose coverage is not counted: it may not write, or tells what it has loaded."""

import os


def environment() -> dict[str, str]:
    """Return this process's environment without what makes coverage start in a child."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
