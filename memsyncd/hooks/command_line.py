"""The shell line a harness's configuration runs for one event (CONTRACT: `hooks command`)."""

import os
import shlex
import sys
from pathlib import Path

from memsyncd.hooks.dropping import MAX_HARNESS, NAME_CHARACTERS

DROP = Path(__file__).resolve().with_name("drop.py")

SHIMS = "shims"

GUARD = " 2>/dev/null || true"
"""Makes a line whose interpreter or script is gone a silent success, in every shell (never-again 145): Python exits 2
for a script that is missing, which blocks a prompt. It costs less than can be measured with dash, 0.7 ms with bash."""


def command_line(action: str, harness: str, *, reason: str = "", home: str = "", interpreter: str | None = None) -> str:
    """Return the line, quoted for a POSIX shell: absolute interpreter, `-I -S`, absolute script, arguments, and
    what makes it harmless once one of them is gone.

    `home` is a MEMSYNCD_HOME to write into the line, for a harness that is started without it. `interpreter` is the
    one to use, by default the real one that runs this. Raises ValueError for a harness that
    cannot be a spool's name, an empty action, and where no real interpreter can be found.
    """
    if not 0 < len(harness) <= MAX_HARNESS or harness[0] == "-" or not NAME_CHARACTERS.issuperset(harness):
        raise ValueError(
            f"a harness is named by up to {MAX_HARNESS} small letters, digits and hyphens, such as claude-code"
        )
    if not action or action.startswith("-"):
        raise ValueError("an action is a word such as user-prompt or stop")
    words = [real_interpreter(interpreter), "-I", "-S", str(DROP), action, "--harness", harness]
    words += ["--reason", reason] if reason else []
    return shlex.join(words + (["--home", home] if home else [])) + GUARD


def real_interpreter(given: str | None = None) -> str:
    """Return an absolute path to an interpreter itself: no version manager's shim, which costs 80 ms and more, and
    no virtual environment's link, which goes when that is made anew. Raises ValueError if there is none.

    A link outside a virtual environment, such as /usr/bin/python3, is kept: it outlives the version it points to.
    """
    base = getattr(sys, "_base_executable", "")
    behind = f"{sys.base_exec_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (given,) if given else (base, sys.executable, behind, os.path.realpath(sys.executable)):
        if not candidate:
            continue
        path = os.path.abspath(candidate)
        # `Path.exists` raises for what may not be looked at, as another user's home
        if os.path.exists(Path(path).parent.parent / "pyvenv.cfg"):
            path = os.path.realpath(path)
        if _is_program(path):
            return path
    raise ValueError(f"{given or sys.executable or 'python'} is no Python interpreter but a script, or is missing")


def _is_program(path: str) -> bool:
    """Tell whether a file is an interpreter: no script, as pyenv's and asdf's shims are, and in no directory of shims,
    where mise links its own program under the interpreter's name."""
    if Path(path).parent.name == SHIMS:
        return False
    try:
        with open(path, "rb") as file:
            return os.access(path, os.X_OK) and file.read(2) != b"#!"
    except OSError:
        return False
