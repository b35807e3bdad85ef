"""Whatever a file holds: our hooks go in once, everything of others stays, and out they leave no trace."""

import json
import os
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from daemon.installing import hooks
from daemon.installing.editing import json_edit
from daemon.installing.editing.toml_text import statements
from daemon.installing.errors import CannotInstall
from daemon.installing.forms import FORMS
from daemon.installing.harness import Harness
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around
from tests.daemon.installing.documents import NAMED_HOOKS, settings_documents, toml_documents, written

pytestmark = pytest.mark.no_cover  # drawn files in plenty; each form's own tests run every line

JSON_HARNESSES = [name for name, harness in HARNESSES.items() if harness.form in ("groups", "list", "object")]
Read = Callable[[str], Any]


@contextmanager
def home_with(harness: Harness, text: str) -> Iterator[tuple[Around, Path]]:
    """Make a new home whose hooks' file holds `text`."""
    directory = Path(mkdtemp(prefix="memsyncd-test-"))
    try:
        around = Around(directory, {}, os.geteuid())
        path = harness.file(directory, {}, is_project=False)
        path.parent.mkdir(mode=0o700, parents=True)
        path.write_bytes(text.encode())
        yield around, path
    finally:
        shutil.rmtree(directory)


def without_ours(document: Any) -> Any:
    """Return a JSON document's values without handlers of ours, nor what became empty by that or was empty."""
    if isinstance(document, dict):
        ours = any(
            isinstance(line, str) and "/memsyncd/hooks/drop.py" in line
            for line in (document.get("command"), document.get("bash"))
        )
        kept = {key: without_ours(value) for key, value in document.items() if key not in ("version", "enabled")}
        return None if ours else {key: value for key, value in kept.items() if value not in (None, [], {})}
    if isinstance(document, list):
        return [item for value in document if (item := without_ours(value)) not in (None, [], {})]
    return document


@pytest.mark.parametrize("name", JSON_HARNESSES)
@settings(max_examples=8, deadline=None)
@given(data=st.data(), document=settings_documents())
def test_json_in_and_out_is_the_identity(name: str, data: Any, document: dict[str, Any]) -> None:
    """Installed, everything of others is still there; installed again, nothing changes; out, each byte is as before."""
    harness = HARNESSES[name]
    document = data.draw(NAMED_HOOKS) if harness.form == "object" else document
    text = data.draw(written(document))
    with home_with(harness, text) as (around, path):
        try:
            assert hooks.install(harness, around).changed
        except CannotInstall:
            assert path.read_bytes() == text.encode()
            return
        installed = path.read_bytes()
        assert hooks.look(harness, around).state == "installed"
        assert without_ours(json_edit.read(installed.decode())) == without_ours(document)
        assert not hooks.install(harness, around).changed
        assert path.read_bytes() == installed
        assert hooks.uninstall(harness, around).changed
        assert path.read_bytes() == text.encode()
        assert os.listdir(path.parent) == [path.name]
        assert not hooks.uninstall(harness, around).changed


@pytest.mark.parametrize("name", ["claude-code", "cursor"])
@settings(max_examples=8, deadline=None)
@given(document=settings_documents())
def test_a_file_written_anew_by_its_harness_loses_ours_only(name: str, document: dict[str, Any]) -> None:
    """Where the harness has written the file in its own layout since, and a person added a hook, those stay."""
    harness = HARNESSES[name]
    with home_with(harness, json.dumps(document)) as (around, path):
        try:
            hooks.install(harness, around)
        except CannotInstall:
            return
        now = json.loads(path.read_text())
        event = harness.events[0].name
        theirs = {"hooks": [{"type": "command", "command": "./new.sh"}]} if name == "claude-code" else {"command": "n"}
        now["hooks"][event].append(theirs)
        path.write_text(json.dumps(now, indent=4))
        hooks.uninstall(harness, around)
        assert path.read_text() == json.dumps(json.loads(path.read_text()), indent=4)
        assert without_ours(json.loads(path.read_text())) == without_ours(now)
        assert "memsyncd" not in path.read_text()


@settings(max_examples=25, deadline=None)
@given(text=toml_documents())
def test_toml_in_and_out_is_the_identity(text: str) -> None:
    """The same holds for TOML, with its comments, strings of many lines, and both forms of hooks."""
    try:
        document = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        reject()  # a table twice
    harness = HARNESSES["kimi"]
    with home_with(harness, text) as (around, path):
        hooks.install(harness, around)
        installed = path.read_bytes()
        now = tomllib.loads(installed.decode().removeprefix("\ufeff"))
        theirs = [hook for hook in now["hooks"] if "memsyncd" not in hook["command"]]
        assert (theirs, len(now["hooks"]) - len(theirs)) == (document.get("hooks", []), len(harness.events))
        assert {key: value for key, value in now.items() if key != "hooks"} == {
            key: value for key, value in document.items() if key != "hooks"
        }
        assert not hooks.install(harness, around).changed
        hooks.uninstall(harness, around)
        assert path.read_bytes() == text.encode()


@settings(max_examples=25, deadline=None)
@given(text=toml_documents())
def test_toml_tables_taken_out_one_by_one_leave_no_trace(text: str) -> None:
    """Also without the backup, taking our tables out gives the text back."""
    try:
        document = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        reject()
    assume(document.get("hooks") != [])  # an empty array is laid out anew
    harness = HARNESSES["kimi"]
    form = FORMS[harness.form]
    wanted = hooks.wanted(harness, Around(Path("/h"), {}, 0))
    assert form.uninstall(form.install(text, wanted, harness), None, harness) == text


@settings(max_examples=25, deadline=None)
@given(data=st.data(), document=settings_documents())
def test_json_entries_taken_out_one_by_one_leave_no_trace(data: Any, document: dict[str, Any]) -> None:
    """Also without the backup, where nothing was empty before and the file held something."""
    harness = HARNESSES["codex"]
    document = {"model": "m", **document}
    hooks_before = document.get("hooks", {"Stop": [1]})
    assume(hooks_before and all(hooks_before.values()))
    text = data.draw(written(document))
    form = FORMS[harness.form]
    wanted = hooks.wanted(harness, Around(Path("/h"), {}, 0))
    assert form.uninstall(form.install(text, wanted, harness), None, harness) == text


@settings(max_examples=25, deadline=None)
@given(text=toml_documents())
def test_toml_statements_are_where_the_parser_sees_them(text: str) -> None:
    """Each pair's value, parsed alone, is what the whole document says there: nothing is cut too short or too long."""
    plain = text.removeprefix("\ufeff")
    try:
        document = tomllib.loads(plain)
    except tomllib.TOMLDecodeError:
        reject()
    for statement in statements(plain):
        if statement.is_header:
            break
        alone = tomllib.loads("v = " + plain[statement.value : statement.end])["v"]
        assert document[statement.key[0]] == alone
