"""What `from memsyncd import …` gives, and what it costs who asks for nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import memsyncd

SOURCE = ast.parse(Path(memsyncd.__file__).read_text("utf-8"))


def imported_for_checkers() -> dict[str, str]:
    """Return each name's module as those who check types see it; a module's own is itself."""
    block = next(node for node in SOURCE.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    names = [
        (alias.name, node.module) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    return {name: f"{home}.{name}" if name == "prompts" else str(home) for name, home in names}


def test_checkers_and_programs_see_the_same_names() -> None:
    """The lazy names, the checked ones and `__all__` are one list."""
    lazy = {name: f"memsyncd.{home}" for home, names in memsyncd._HOMES.items() for name in names}
    assert lazy == imported_for_checkers()
    assert set(memsyncd.__all__) == set(lazy) | {"__version__"}
    assert set(memsyncd.__all__) <= set(dir(memsyncd))
    assert memsyncd.__all__ == sorted(memsyncd.__all__)


@pytest.mark.parametrize("name", memsyncd.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    """Classes and functions say what they do."""
    value = getattr(memsyncd, name)
    assert name == "__version__" or value.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As with any module."""
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        memsyncd.Nothing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError):
        from memsyncd import Nothing  # type: ignore[attr-defined]  # noqa: F401


def test_importing_the_package_loads_none_of_its_parts() -> None:
    """A hook starts through it."""
    code = "import sys; before = set(sys.modules); import memsyncd; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["memsyncd", "memsyncd.version"]
