"""What can keep us from changing a harness's file. Whatever is raised, the file is as it was.

CannotInstall        a sentence for a person; the command exits 1
├── NotParsable      the file is not what its harness reads; with line and column
├── Unfit            it can be parsed, but what stands in our place is not ours to change
├── Unsafe           another user owns the file, or could change it
├── Unreachable      the disk or its permissions are in the way
└── Unwritten        it was put back, for it did not read as it was written, or kept changing under us
Unsupported          the harness has no such place; wrong use, exit 2
"""


class CannotInstall(Exception):
    """The file was left as it was; the message says why and what to do."""


class NotParsable(CannotInstall):
    """`line` and `column` count from 1."""

    def __init__(self, why: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {why}")
        self.why = why
        self.line = line
        self.column = column


class Unfit(CannotInstall):
    """Something else stands where our entries would go."""


class Unsafe(CannotInstall):
    """Another user has a hand in it: what is run from there would not be the user's own choice."""


class Unreachable(CannotInstall):
    """The disk or its permissions are in the way."""


class Unwritten(CannotInstall):
    """The disk or another program came between."""


class Unsupported(Exception):
    """This harness has no place for that; nothing was looked at."""
