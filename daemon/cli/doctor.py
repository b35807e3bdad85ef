"""`doctor`: checks with PASS and FAIL, what was measured, and a remedy for each that fails."""

import os
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from daemon.cli import exits
from daemon.cli.given import GivenDirectory
from daemon.cli.output import emit_json, emit_lines, width
from daemon.cli.status_view import NARROWEST, WIDEST, Line
from daemon.cli.surroundings import Surroundings, here
from daemon.cli.wording import wrapped

if TYPE_CHECKING:
    from daemon.doctor.check import Check

INDENT = " " * 6


@click.command(short_help="Is everything as it should be, and what to do where it is not.")
@click.option("--deep", is_flag=True, help="Also write markers, read them back and delete them; up to a minute.")
@click.option(
    "--cwd",
    default=None,
    type=GivenDirectory(is_there=True),
    metavar="DIR",
    help="Look at the project of this directory instead of the one you stand in.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def doctor(around: Surroundings, deep: bool, cwd: str | None, as_json: bool) -> int:
    """Check what memsyncd stands on, with or without a daemon, and change nothing.

    Each line says what was measured; one that fails says what to do. Exit code: 0 all is well, 1 something failed. What
    could not be checked says so and fails nothing. With --deep a marker is written where hooks write, and a memory is
    made, found and deleted on the platform.
    """
    from daemon.doctor.doctor import checks  # noqa: PLC0415  (only when it runs)
    from daemon.doctor.examination import examination  # noqa: PLC0415
    from memsyncd.version import __version__  # noqa: PLC0415

    examined = examination(
        around.places(),
        around.environ,
        uid=around.uid,
        platform=around.platform,
        cwd=os.path.realpath(cwd) if cwd else here() or str(around.home),
        wall=around.wall,
        monotonic=time.monotonic,
    )
    found: list[Check] = []
    for check in checks(examined, is_deep=deep):
        found.append(check)
        if not as_json:
            emit_lines(lines(check, min(max(width(), NARROWEST), WIDEST)))
    ok = all(check.ok for check in found)
    if as_json:
        emit_json({"ok": ok, "checks": [check.document() for check in found], "version": __version__})
    else:
        emit_lines(summary(found))
    return exits.DONE if ok else exits.FAILED


def lines(check: "Check", columns: int) -> Iterable[Line]:
    """Return a check's lines: the verdict, what was measured, and the remedy or hint below it."""
    word = "PASS" if check.ok else "FAIL"
    tone = "good" if check.ok and check.ran else "faint" if check.ok else "bad"
    for text in wrapped(f"{check.name}: {check.message}", columns, first=f"{word}  ", rest=INDENT):
        yield Line(text, tone)  # type: ignore[arg-type]  # three of the tones
    if check.remedy:
        for text in wrapped(check.remedy, columns, first=f"{INDENT}→ ", rest=f"{INDENT}  "):
            yield Line(text)


def summary(found: "list[Check]") -> Iterable[Line]:
    """Return the last line."""
    failed = sum(not check.ok for check in found)
    skipped = sum(not check.ran for check in found)
    told = f"{len(found) - failed - skipped} well, {failed} failed, {skipped} not checked"
    yield Line("")
    yield Line(told, "bad" if failed else "good")
