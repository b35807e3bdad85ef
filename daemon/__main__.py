"""The console entry. `hook` goes its short way before anything heavy is loaded; the rest is the command line."""

import sys
from collections.abc import Sequence

HELP = frozenset({"--help", "-h"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (CONTRACT "Commands"); `argv` is without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["hook"] and not HELP.intersection(arguments):
        return _hook(arguments[1:])
    from daemon.cli.program import main as command_line  # noqa: PLC0415  (a hook must not pay for it)

    return command_line(arguments)


def _hook(arguments: list[str]) -> int:
    """Drop a handoff. A hook never hurts the agent: 0 whatever happens, and no traceback (DESIGN, promise 7)."""
    try:
        from memsyncd.hooks.drop import main as drop  # noqa: PLC0415  (only a hook needs it)

        drop(arguments)
    except BaseException:  # noqa: BLE001  (a hook never hurts the agent, not even by an exit code)
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
