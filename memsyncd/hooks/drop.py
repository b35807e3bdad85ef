"""The drop: what a harness runs. It leaves one handoff of what the harness tells on standard input.

    PYTHON -I -S /abs/memsyncd/hooks/drop.py ACTION --harness H [--reason R]

Run so, Python compiles this one file anew each time, which costs more than all the work: hence it is tiny, and its
neighbours are imported from their cached bytecode (1.1 times a bare start instead of 1.4; `bench/hook.py`). The
packages around them are stood in for, so that no `__init__` runs. It and what it imports (`dropping`,
`standard_input`, `envelope`, `spool`; for a recall `context_output`, `recalling` and `socket_place`; where something is
odd `odd_input` and `error_log`) run from Python 3.9 on, because a harness may use the system's, and import only
built-in modules on the ordinary path, a recall `_socket` beside them.
"""

import posix
import sys

TYPE_CHECKING = False  # the real one costs as much to import as the whole drop
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: "Sequence[str]") -> int:
    """Drop one handoff for the words ACTION --harness H [--reason R]. Prints at most a recall, never raises, returns 0.

    It takes over SIGALRM, SIGTERM, SIGINT and SIGHUP and reads file descriptor 0: a program calls it from its main
    thread as its last act.
    """
    try:
        from memsyncd.hooks import dropping  # noqa: PLC0415  (the stand-ins come first)

        dropping.run(list(argv))
    except BaseException:  # noqa: BLE001, S110  (a broken installation must not hurt the agent; `doctor` tells)
        pass
    return 0


def _stand_in_for_packages() -> None:
    hooks = __file__.rpartition("/")[0] or "."
    for name, path in (("memsyncd", hooks + "/.."), ("memsyncd.hooks", hooks)):
        package = type(sys)(name)
        package.__path__ = [path]
        sys.modules[name] = package


if __name__ == "__main__":
    _stand_in_for_packages()
    # Nothing is buffered, and taking an interpreter down in order costs 15 % of a bare start.
    posix._exit(main(sys.argv[1:]))  # noqa: SLF001  (its public name is `os._exit`)
