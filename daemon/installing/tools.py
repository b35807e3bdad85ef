"""The entry that starts our MCP server in an agent's client: put there, and taken out."""

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from daemon.installing import change, config_file
from daemon.installing.change import Change, Edit
from daemon.installing.editing import json_edit, toml_edit, toml_text
from daemon.installing.errors import CannotInstall, NotParsable, Unfit, Unsupported
from daemon.installing.harness import NAME, Harness, Tools
from daemon.installing.hooks import Around, has_own

CLIENT_SECONDS = 30
"""How long a client's own command may take; it starts a JavaScript runtime and rewrites a file."""


def install(harness: Harness, around: Around, command: tuple[str, ...]) -> Change:
    """Let the harness's client start `command` as a server. Raises CannotInstall, Unsupported; OSError where the
    client's own program cannot be started."""
    path, edit, client = _edit(harness, around, command)
    if client is None:
        return change.put(path, edit, around.uid, is_private=not around.is_project)
    if _holds(path, edit.is_right, around):
        return Change(path, changed=False)
    if _holds(path, edit.has_ours, around):
        _run([*client, "mcp", "remove", "--scope", "user", NAME], around)
    entry = json.dumps(_entry(harness.tools, around, command))
    _run([*client, "mcp", "add-json", "--scope", "user", NAME, entry], around)
    return Change(path, changed=True)


def uninstall(harness: Harness, around: Around) -> Change:
    """Take the entry out. Raises as `install` does."""
    path, edit, client = _edit(harness, around, ())
    if client is None or not _holds(path, edit.has_ours, around):
        return change.take(path, edit, around.uid, is_private=not around.is_project)
    _run([*client, "mcp", "remove", "--scope", "user", NAME], around)
    return Change(path, changed=True)


def server_command(around: Around) -> tuple[str, ...]:
    """Return the program and arguments that start the server: the console script of this installation."""
    script = Path(sysconfig.get_path("scripts")) / "memsyncd"
    if not script.is_file():
        raise CannotInstall(f"{script} is missing: install memsyncd anew.")
    return (str(script), "mcp", *(("--project", str(around.root)) if around.is_project else ()))


def _edit(harness: Harness, around: Around, command: tuple[str, ...]) -> tuple[Path, Edit, list[str] | None]:
    """Return the file, what to do to it, and the client's own command if the file is the client's to write."""
    tools = harness.tools
    place = tools.project if around.is_project else tools.user
    if place is None:
        raise Unsupported(f"it is not known where {harness.title} keeps a project's MCP servers; leave out --project.")
    path = around.checked(place.path(around.root, {} if around.is_project else around.environ))
    entry = _entry(tools, around, command)
    edit = _toml_edit(tools, entry) if path.suffix == ".toml" else _json_edit(tools, entry)
    if harness.keeps_all_in_one(is_project=around.is_project):
        edit = replace(edit, has_another=lambda text: has_own(text, harness))
    program = shutil.which(tools.program, path=around.environ.get("PATH", "")) if tools.program else None
    return path, edit, [program] if program and not around.is_project else None


def _entry(tools: Tools, around: Around, command: tuple[str, ...]) -> dict[str, Any]:
    environment = {"MEMSYNCD_HOME": around.data} if around.data else {}
    if tools.is_opencode:
        entry: dict[str, Any] = {"type": "local", "command": list(command), "enabled": True}
        return entry | ({"environment": environment} if environment else {})
    entry = {**tools.constant, "command": command[0] if command else "", "args": list(command[1:])}
    return entry | ({"env": environment} if environment else {})


def _json_edit(tools: Tools, entry: Mapping[str, Any]) -> Edit:
    path = (*tools.path, NAME)

    def found(text: str) -> Any:
        document: Any = json_edit.read(text)
        for step in path:
            document = document.get(step) if isinstance(document, dict) else None
        return document

    def uninstall(text: str, before: str | None) -> str:
        text = json_edit.remove(text, path)
        known = before is not None and tools.path[0] in _object(before)
        return json_edit.remove(text, tools.path) if not known and json_edit.is_bare(text, tools.path) else text

    return Edit(
        has_ours=lambda text: found(text) is not None,
        is_right=lambda text: _covers(found(text), entry),
        install=lambda text: text if _covers(found(text), entry) else json_edit.put(text, path, entry),
        uninstall=uninstall,
    )


def _toml_edit(tools: Tools, entry: Mapping[str, Any]) -> Edit:
    path = (*tools.path, NAME)

    def found(text: str) -> Any:
        tables = toml_text.read(text).get(tools.path[0])
        return tables.get(NAME) if isinstance(tables, dict) else None

    def without(text: str) -> str:
        for first, last in reversed(toml_edit.blocks(text, path, is_many=False)):
            text = toml_edit.remove_block(text, first, last)
        if found(text) is not None:
            raise Unfit(f"{'.'.join(path)} is written as a part of another table; take it out by hand")
        return text

    def install(text: str) -> str:
        if _covers(found(text), entry):
            return text
        text = toml_edit.add_table(without(text), f"[{'.'.join(path)}]", entry)
        try:
            toml_text.read(text)
        except NotParsable as error:
            raise Unfit(
                f"{tools.path[0]} is written so that no table can be added ({error.why}); do it by hand"
            ) from error
        return text

    return Edit(
        has_ours=lambda text: found(text) is not None,
        is_right=lambda text: _covers(found(text), entry),
        install=install,
        uninstall=lambda text, _before: without(text),
    )


def _covers(found: Any, entry: Mapping[str, Any]) -> bool:
    """Tell whether an entry does what ours does; what a person has added to it is theirs."""
    return isinstance(found, dict) and all(found.get(key) == value for key, value in entry.items())


def _object(text: str) -> Mapping[str, Any]:
    document = json_edit.read(text)
    return document if isinstance(document, dict) else {}


def _holds(path: Path, test: Callable[[str], bool], around: Around) -> bool:
    return test(config_file.read(path, around.uid, is_private=True).text)


def _run(words: list[str], around: Around) -> None:
    try:
        done = subprocess.run(  # noqa: S603  (the client's own program, found on the user's path)
            words,
            env=dict(around.environ),
            cwd=around.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CLIENT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(
            f"{words[0]} took over {CLIENT_SECONDS} s: run `{' '.join(words[:4])} …` yourself"
        ) from error
    if done.returncode:
        told = os.fsdecode(done.stderr or done.stdout).strip()[:300]
        raise CannotInstall(f"{words[0]} exited {done.returncode}: {told}")
