"""Harnesses' own files: any text gets our entries and loses them again, with all that is others' as it was, or is
refused."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from daemon.installing import hooks, tools
from daemon.installing.change import Edit, _placed
from daemon.installing.config_file import ConfigFile
from daemon.installing.editing import json_edit, toml_text
from daemon.installing.errors import CannotInstall, NotParsable
from daemon.installing.forms.script import MARK
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around
from daemon.installing.tools import NAME
from tests.fuzz import planted
from tests.fuzz.target import BREAK, Target, TryOne

COMMAND = ("/opt/memsyncd/bin/memsyncd", "mcp")


def _edits(place: Path) -> Mapping[bytes, tuple[Edit, str]]:
    """Return every edit by name, with the suffix of the file it is for."""
    around = Around(place, {}, os.geteuid())
    found: dict[bytes, tuple[Edit, str]] = {}
    for name, harness in HARNESSES.items():
        if harness.user is not None:
            found[f"{name} hooks".encode()] = (hooks._edit(harness, around), Path(harness.user.name).suffix)
        if harness.tools.user is not None:
            path, edit, _ = tools._edit(harness, around, COMMAND)
            found[f"{name} tools".encode()] = (edit, path.suffix)
    return found


class _Editor:
    """An input's parts: which edit, and what the file holds."""

    def __init__(self, place: Path) -> None:
        self.edits = _edits(place)
        self.names = sorted(self.edits)
        self.path = place / "file"

    def try_one(self, content: bytes) -> None:
        name, _, held = planted.into(content).partition(BREAK)
        edit, suffix = self.edits.get(name.strip()) or self.edits[self.names[len(content) % len(self.names)]]
        file = ConfigFile(self.path, self.path, held, 0o600, 0o700)
        try:
            with _placed(file):
                _try(edit, file.text, suffix)
        except CannotInstall as error:
            planted.assert_absent(str(error))


def _try(edit: Edit, text: str, suffix: str) -> None:
    had_ours = edit.has_ours(text)
    new = edit.install(text)
    if not edit.is_right(new):
        return  # which is refused
    new.encode()
    assert edit.install(new) == new, "a second time it is another text"
    if had_ours or NAME in text or text.startswith(MARK):
        return  # what stands under our name is ours to replace
    assert _is_kept(text, new), "something of others' is gone"
    gone = edit.uninstall(new, text)
    if edit.has_ours(gone):
        return  # which is refused
    was, now = _read(text, suffix), _read(gone, suffix)
    if isinstance(was, dict) and isinstance(now, dict) and "version" not in was:
        now.pop("version", None)  # Copilot's, which other hooks may need by now
    assert was == now, "what was there before us reads otherwise"


def _is_kept(text: str, new: str) -> bool:
    """Whether every character of the old text but white space stands in the new one, in their order. A byte-order mark
    before nothing at all is nothing, too."""
    if not text.strip("\ufeff \t\r\n"):
        return True
    rest = iter(new)
    return all(character in rest for character in text if not character.isspace())


def _read(text: str, suffix: str) -> Any:
    try:
        return toml_text.read(text) if suffix == ".toml" else json_edit.read(text)
    except NotParsable:
        return text if suffix not in (".toml", ".json", ".jsonc") else None


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    yield _Editor(place).try_one


_JSON = (
    b"",
    b"{}",
    b'{\n  // mine\n  "model": "opus", "env": {"KEY": "@PLANTED@"},\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./say done"}]}],},\n}\n',
    b'\xef\xbb\xbf{"version":1,"hooks":{"stop":[{"command":"x"}]}}',
    b'{\r\n\t"hooks": {\r\n\t\t"SessionStart": [],\r\n\t\t"PreToolUse": [{"matcher": "Bash", "hooks": []}]\r\n\t}\r\n}\r\n',
    b'{"mcpServers": {"other": {"command": "x", "args": []}}, "mcp": {}} /* end */',
    b'{"mine": {"enabled": true, "Stop": [{"type": "command", "command": "x", "timeout": 5}]}}',
)  # fmt: skip
_TOML = (
    b"",
    b'model = "k2"\n# mine\n[[hooks]]\nevent = "Stop"\ncommand = "./say done" # x\n[table]\nz = 0\n',
    b"hooks = [\n  {event = \"Stop\", command = 'x'}, # mine\n]\n",
    b'[mcp_servers.other]\ncommand = "x"\nenv = { KEY = "@PLANTED@" }\n',
    b'a = \'\'\'\n[[hooks]]\n\'\'\'\n"b.c" = """\\\n  x"""\nd = 1979-05-27T07:32:00Z\r\n',
)


def inputs() -> Iterator[bytes]:
    """Yield files of both kinds for every edit: bare ones, others', and ones that hold ours."""
    for name, (edit, suffix) in sorted(_edits(Path("/home/ada")).items()):
        for text in _TOML if suffix == ".toml" else _JSON:
            yield name + BREAK + text
        try:
            ours = edit.install("")
        except CannotInstall:
            continue
        yield name + BREAK + ours.encode()
        yield name + BREAK + ours.replace("drop.py", "drop.py --old").replace("5", "9").encode()


WORDS = (
    *(name.encode() for name in HARNESSES),
    *b"hooks tools version enabled matcher command timeout mcpServers mcp_servers mcp memsyncd event Stop".split(),
    *b"SessionStart [[hooks]] [hooks] hooks= [mcp_servers.memsyncd] // /* */ # ''' \"\"\" , ,} ,] :{ {}".split(),
    *(b"\n", b"\r\n", b"\t", b'"hooks": ', b'"memsyncd": '),
)
TARGET = Target("config_files", opened, inputs, WORDS)
