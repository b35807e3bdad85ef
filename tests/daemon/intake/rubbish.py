"""What may lie in a spool's `pending/` beside handoffs: files of any bytes under any names, and what is no file."""

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from daemon.intake.document import TornError, handoff_from
from memsyncd.hooks.handoff import NotAHandoffError
from tests.fuzz import seeds
from tests.fuzz.mutation import ODD_BYTES

HANDOFFS = [*seeds.handoffs()]

DEEP = st.integers(1, 3_000).map(lambda depth: b'{"hook_input": ' * depth + b"[" * depth)
HUGE = st.integers(1, 6_000).map(
    lambda digits: b'{"hook_input": {"n": -1' + b"0" * digits + b'e9}, "delay_seconds": 1e999}'
)
TORN = st.tuples(st.sampled_from(HANDOFFS), st.integers(0, 400)).map(lambda told: told[0][: told[1]])
SPOILED = st.tuples(st.sampled_from(HANDOFFS), st.integers(0, 400), st.sampled_from(ODD_BYTES)).map(
    lambda told: told[0][: told[1]] + told[2] + told[0][told[1] :]
)
ODD = st.sampled_from(
    [
        b"", b"\0" * 200, b"null", b"[]", b"{}", b'"a"', b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b'{"hook_input": {}}', b'{"hook_input": {"session_id": "\\ud800"}, "id": "\\udfff"}',
        b'{"hook_input": {}, "hook_input": [], "action": "stop", "action": "flush"}', b'{"action": "user-prompt", "hook_input": {"session_id": 5, "prompt": {}}, "harness": "../../x"}',
        b'{"action": "user-prompt", "hook_input": {"session_id": "\\u0000", "prompt": "a\\u0000b", "cwd": "/\\u0000"}}', b'{"hook_input": {"session_id": "r"}} trailing', b"{" * 5_000,
    ]
)  # fmt: skip
CONTENTS = st.binary(max_size=300) | DEEP | HUGE | TORN | SPOILED | ODD

STEMS = (
    st.binary(min_size=1, max_size=20)
    | st.integers(200, 250).map(lambda length: b"n" * length)
    | st.sampled_from([b".", b"..", b" ", b"-", b"a.json", b"\xff\xfe", "é".encode(), b"\n", b"*", b"a.reason", b"~", b"%00"])
)  # fmt: skip
ENDINGS = st.sampled_from(
    [b".json", b".json", b".json", b".running", b".tmp", b"", b".JSON", b".json.json", b".reason.json"]
)
NAMES = st.builds(lambda stem, ending: (stem.translate(None, b"/\0") + ending)[:255], STEMS, ENDINGS).filter(
    lambda name: name not in (b"", b".", b"..")
)

KINDS = ("file", "file", "file", "file", "directory", "full directory", "pipe", "link", "loop", "unreadable")


@dataclass(frozen=True, slots=True)
class Rubbish:
    """One thing: its name, what it is, and for a file its bytes and how old it is, in seconds."""

    name: bytes
    kind: str
    content: bytes
    age: float

    @property
    def is_waiting_file(self) -> bool:
        """Whether it is a file that is looked at as a handoff."""
        return self.kind in ("file", "unreadable") and self.name.endswith(b".json")

    @property
    def is_handoff(self) -> bool:
        """Whether its bytes are one, however odd."""
        try:
            handoff_from(self.content, stem="x")
        except (TornError, NotAHandoffError):
            return False
        return True

    def put(self, pending: Path, now: float) -> bool:
        """Leave it there; False where the name is taken or too long for this file system."""
        path = os.path.join(os.fsencode(pending), self.name)
        if os.path.lexists(path):
            return False
        try:
            self._put(path)
        except OSError:
            return False
        if self.kind in ("file", "unreadable"):
            os.utime(path, (now - self.age, now - self.age))
        return True

    def _put(self, path: bytes) -> None:
        match self.kind:
            case "directory":
                os.mkdir(path)
            case "full directory":
                os.mkdir(path)
                os.mkdir(os.path.join(path, b"inside.json"))
            case "pipe":
                os.mkfifo(path)
            case "link":
                os.symlink(b"/nowhere/at all", path)
            case "loop":
                os.symlink(self.name, path)
            case _:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open(descriptor, "wb") as file:
                    file.write(self.content)
                if self.kind == "unreadable":
                    os.chmod(path, 0)


RUBBISH = st.lists(
    st.builds(Rubbish, NAMES, st.sampled_from(KINDS), CONTENTS, st.sampled_from([0.0, 0.0, 5.0, -1e6, 1e5])),
    min_size=1,
    max_size=6,
)


def kept_bytes(spool: Path) -> list[bytes]:
    """Return the contents of every file that waits or was set aside."""
    found = []
    for directory in ("pending", "corrupt", "dead"):
        for entry in os.scandir(os.fsencode(spool / directory)):
            if stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
                with open(entry.path, "rb") as file:
                    found.append(file.read())
    return found


def written(document: object) -> bytes:
    """Return a handoff's bytes."""
    return json.dumps(document).encode()
