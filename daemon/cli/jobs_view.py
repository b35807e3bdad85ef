"""Jobs for people. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from daemon.cli.status_view import NARROWEST, WIDEST, Line, Tone
from daemon.cli.wording import clean, moment, shorten, wrapped

LABEL = 12
TONES: Mapping[str, Tone] = {"dead": "bad", "done": "good", "cancelled": "faint"}
STATE, WHEN = 11, 14
_SHOWN = (
    "id",
    "kind",
    "lane",
    "destination",
    "account",
    "host",
    "state",
    "not_before",
    "attempts",
    "crashes",
    "reason",
)


def jobs_lines(jobs: Sequence[Mapping[str, Any]], *, width: int, now: float) -> list[Line]:
    """Return a line a job: id whole, for it is what one types next; kind, state, when and why as far as there is room.

    Below 80 columns the second half stands on a line of its own.
    """
    if not jobs:
        return [Line("no jobs", "faint")]
    columns = min(max(width, NARROWEST), WIDEST)
    longest = max(len(clean(job.get("id", ""))) for job in jobs)
    wide = columns >= longest + STATE + WHEN + 30
    lines = (
        [Line(f"{'id'.ljust(longest)}  {'state'.ljust(STATE)}{'next or last'.ljust(WHEN)}why", "strong")]
        if wide
        else []
    )
    for job in jobs:
        state = clean(job.get("state", "?"))
        when, why = _when(job, now), clean(job.get("reason") or _last_error(job))
        if host := clean(job.get("host") or ""):
            why = f"{host}: {why}" if why else host
        identity, tone = clean(job.get("id", "")), TONES.get(state, "")
        if wide:
            head = f"{identity.ljust(longest)}  {state.ljust(STATE)}{when.ljust(WHEN)}"
            lines.append(Line(shorten((head + why).rstrip(), columns), tone))
        else:
            lines.append(Line(identity, tone))
            told = ", ".join(filter(None, (state, when, why)))
            lines.append(Line(shorten(f"  {told}", columns), "faint"))
    return lines


def job_lines(job: Mapping[str, Any], *, width: int, now: float) -> list[Line]:
    """Return one job whole: its fields, then its errors."""
    columns = min(max(width, NARROWEST), WIDEST)
    lines = []
    for key in _SHOWN:
        value = job.get(key)
        if value is None or value == "":
            continue
        told = moment(value, now) if key == "not_before" else str(value)
        tone = TONES.get(told, "") if key == "state" else ""
        lines += [Line(text, tone) for text in wrapped(told, columns, first=key.ljust(LABEL), rest=" " * LABEL)]
    for error in job.get("errors") or ():
        told = f"{moment(error.get('at'), now)}: {error.get('why', '')}"
        lines += [Line(text, "warn") for text in wrapped(told, columns, first="error".ljust(LABEL), rest=" " * LABEL)]
    return lines


def _when(job: Mapping[str, Any], now: float) -> str:
    at = job.get("not_before") or job.get("updated_at")
    return moment(at, now) if at else ""


def _last_error(job: Mapping[str, Any]) -> str:
    errors = job.get("errors") or ()
    return str(errors[-1].get("why", "")) if errors else ""
