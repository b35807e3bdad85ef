"""Options whose value comes from a variable that is not set, and the sentences about a pause that say what ends it."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from daemon.cli import exits, pause, resume
from daemon.cli.program import main, program
from daemon.cli.surroundings import Surroundings
from memsyncd.clock import rfc3339

NOW = 1_800_000_000.0


def run(home: Path, *arguments: str) -> int:
    environ = {"MEMSYNCD_HOME": str(home / "m"), "HOME": str(home), "USER": "ada"}
    around = Surroundings(environ=environ, home=home, uid=os.geteuid(), platform="linux", wall=lambda: NOW)
    return main(list(arguments), around)


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("forget", "--yes", "--session", ""), "--session"),
        (("forget", "--yes", "--memory", " "), "--memory"),
        (("forget", "--yes", "--cwd", ""), "--cwd"),
        (("pause", "--project", ""), "--project"),
        (("resume", "--project", ""), "--project"),
        (("search", "port", "--run-id", ""), "--run-id"),
        (("search", "port", "--scope", ""), "--scope"),
        (("search", "port", "--category", ""), "--category"),
        (("search", "port", "--cwd", ""), "--cwd"),
        (("flush", "--session", ""), "--session"),
        (("flush", "--cwd", ""), "--cwd"),
        (("jobs", "show", ""), "ID"),
        (("jobs", "retry", "flush:x", ""), "ID..."),
        (("import", ""), "FILE|DIR"),
        (("export", "--to", ""), "--to"),
    ],
)
def test_an_empty_value_is_wrong_use_and_widens_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], option: str
) -> None:
    """`forget --yes --session "$ID"` without an ID must not forget the project instead."""
    assert run(tmp_path, *arguments) == 2
    assert f"{option} is empty" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


HAVE_A_FORM = {"pairs", "lasting", "query"}
"""They are read by a form of their own, which an empty one has not."""

PLACEHOLDERS = {"memsyncd mcp project"}
"""A client fills it in, or not: docs/mcp.md says what counts then."""


def parameters(command: click.Command, context: click.Context) -> Iterator[tuple[click.Parameter, click.Context]]:
    """Yield every option and argument of a command and of those below it."""
    yield from ((parameter, context) for parameter in command.params)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and name != "hook":  # which has a way of its own
                yield from parameters(inner, click.Context(inner, info_name=name, parent=context))


def test_nothing_takes_an_empty_value() -> None:
    """Whatever option is added: it has a type that refuses one, or a form that has none."""
    loose = set()
    for parameter, context in parameters(program, click.Context(program, info_name="memsyncd")):
        if getattr(parameter, "is_flag", False) or parameter.name in HAVE_A_FORM:
            continue
        try:
            parameter.type.convert("", parameter, context)
        except (exits.Leave, click.UsageError):
            continue
        loose.add(f"{context.command_path} {parameter.name}")
    assert loose == PLACEHOLDERS


def test_an_empty_time_is_no_pause_without_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was to end after a while would never end."""
    assert run(tmp_path, "pause", "--for", "") == 2
    assert "write it like" in capsys.readouterr().err and not (tmp_path / "m").exists()
    for size in ("0", "999999999999d"):
        assert run(tmp_path, "pause", "--for", size) == 2
        told = capsys.readouterr().err
        assert "from 1s to 3650d" in told and "write it" not in told and not (tmp_path / "m").exists()


def test_a_directory_that_is_not_there_is_no_project_to_pause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever mistypes it would believe it paused."""
    (tmp_path / "file").touch()
    for name in ("nowhere", "file"):
        assert run(tmp_path, "pause", "--project", str(tmp_path / name)) == 2
        assert f"there is no directory {tmp_path / name}" in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("project", "seconds", "told"),
    [
        (None, None, "Everything is paused until `memsyncd resume`."),
        (None, 1.0, "Everything is paused; it ends in 1 s."),
        (None, 7_199.9, "Everything is paused; it ends in 2 h."),
        ("/w/my shop", None, "The project in /w/my shop is paused until `memsyncd resume --project '/w/my shop'`."),
    ],
)
def test_a_pause_is_told_with_what_ends_it(project: str | None, seconds: float | None, told: str) -> None:
    """The very command; the end of everything's pause ends no project's."""
    until = None if seconds is None else rfc3339(NOW + seconds)
    assert pause.sentence({"outcome": "done", "project": project, "until": until}, NOW) == told


def test_a_spool_that_was_paused_alone_is_told_as_that() -> None:
    """Everything was not paused."""
    answer = {"outcome": "done", "project": None, "paused_projects": [], "resumed_spools": ["codex", "cursor"]}
    assert resume.sentence(answer) == "Capture from codex and cursor, paused alone, goes on."


def test_a_project_that_stays_paused_is_told_with_what_ends_it() -> None:
    """After the pause of everything."""
    answer = {"outcome": "done", "project": None, "paused_everything": False, "paused_projects": ["/w/shop"]}
    assert resume.sentence(answer) == (
        "Everything goes on. /w/shop stays paused until `memsyncd resume --project /w/shop`."
    )


@pytest.mark.parametrize("words", [("search", "which port"), ("flush",), ("flush", "--wait")])
def test_a_directory_that_is_not_there_is_no_place_to_look_at(
    tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """A slip of the pen would find nothing, and say that nothing is there."""
    assert run(tmp_path, *words, "--cwd", str(tmp_path / "gone")) == 2
    assert f"--cwd: there is no directory {tmp_path / 'gone'}." in capsys.readouterr().err


def test_a_dash_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it is standard input for `import`; no file is called so."""
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path, "export", "--to", "-") == 0
    assert capsys.readouterr().out.startswith('{"type": "memsyncd-export"') and not (tmp_path / "-").exists()
    assert run(tmp_path, "export", "--to", "-", "--json") == 2
