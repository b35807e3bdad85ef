"""Where the product's source changes something on disk, as far as a look at its calls tells."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.end_to_end.killing.doors import CHANGES, MOVES
from tests.end_to_end.killing.step import PLUMBING, PRODUCT, ROOMS

OF_PATHS = frozenset({"unlink", "rename", "mkdir", "rmdir", "chmod", "write_text", "write_bytes", "symlink_to"})
"""Methods of `Path`; `replace` and `touch` are others' as well, and found only as functions of `os`."""


def changing_modules() -> set[str]:
    """Return the modules, named as in a step's name, that call what changes files or open a database."""
    root = Path(PRODUCT)
    found = set()
    for path in (path for room in ROOMS for path in root.glob(f"{room}**/*.py")):
        below = str(path.relative_to(root))
        if below not in PLUMBING and any(_is_change(call) for call in _calls(path)):
            found.add(below.removesuffix(".py").partition("/")[2].replace("/", "."))
    return found


def module_of(step: str) -> str:
    """Return the module in a step's name."""
    return step.rpartition("(")[2].rstrip(")").rpartition(".")[0]


def _calls(path: Path) -> Iterator[ast.Attribute]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func


def _is_change(called: ast.Attribute) -> bool:
    owner = called.value.id if isinstance(called.value, ast.Name) else ""
    if owner in ("os", "posix"):
        return called.attr in MOVES or called.attr in CHANGES
    return called.attr in OF_PATHS or (owner, called.attr) == ("sqlite3", "connect")
