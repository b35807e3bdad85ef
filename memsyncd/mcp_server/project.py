"""Which project a call is about: what the client says of its workspace, else where the server began (facts 13.8)."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

TURN_METADATA = "x-codex-turn-metadata"
"""The key in a request's `_meta` under which Codex names the workspaces of its turn: an object, or its JSON."""

VARIABLES = ("CLAUDE_PROJECT_DIR",)
"""Variables in which clients name the project (hooks-and-apis 5C)."""


def started_in(option: str, environ: Mapping[str, str], cwd: str) -> str:
    """Return the project's directory as known at the start: an option, a client's variable, the working directory.

    What names no directory, such as a placeholder that the client did not fill in, counts for nothing.
    """
    return next(_directories((option, *(environ.get(name, "") for name in VARIABLES))), cwd)


def project_of(meta: Mapping[str, Any], otherwise: str) -> str:
    """Return the directory a request is about: the first workspace its `_meta` names, else `otherwise`."""
    turn = meta.get(TURN_METADATA)
    if isinstance(turn, str):
        try:
            turn = json.loads(turn)
        except (ValueError, RecursionError):
            return otherwise
    workspaces = turn.get("workspaces") if isinstance(turn, Mapping) else None
    return next(_directories(workspaces if isinstance(workspaces, list | dict) else ()), otherwise)


def _directories(candidates: Iterable[object]) -> Iterator[str]:
    for path in candidates:
        try:
            if isinstance(path, str) and os.path.isabs(path) and os.path.isdir(path):
                yield path
        except ValueError:  # a NUL, which is in no real path
            continue
