"""Which times of the wall clock a pause covers: a handoff tells no other, and the clock may have been set in between.
Pure."""

import math
from collections.abc import Iterable, Sequence

from daemon.pause_state import Moment, Pause

Span = tuple[float, float]
"""From and until, Unix seconds; the latter is no part of it."""

ALWAYS: Sequence[Span] = ((-math.inf, math.inf),)

CUT_SECONDS = 0.001
"""Handoffs tell their time cut to milliseconds."""

LOST_CLOCK_SECONDS = 86_400.0
"""So much counts as paused of a boot whose end nobody knows, because the clock stands before the pause's begin now."""


def open_span(pause: Pause, now: Moment) -> Span:
    """Return what a pause covers that is not over: from its begin by the clock of then or of now, the earlier."""
    begins = [pause.since]
    if pause.boot and pause.boot == now.boot:
        begins.append(now.wall - (now.up - pause.up))
    elif now.boot:
        begins.append(now.wall - now.up)  # all of this boot is in the pause
    elif now.wall < pause.since:
        begins.append(-math.inf)
    return min(begins) - CUT_SECONDS, math.inf


def closed_spans(pause: Pause, now: Moment) -> Sequence[Span]:
    """Return what a pause covers that ends now, or has ended by its time: by the clock as it was at its begin, and as
    it is now. What was captured after a clock was set back may seem to lie in it, and counts so."""
    limit = math.inf if pause.seconds is None else pause.seconds
    if pause.boot and pause.boot == now.boot:
        passed = max(0.0, now.up - pause.up)
        lasted, begin = min(passed, limit), now.wall - passed
        return _joined([(pause.since, pause.since + lasted), (begin, begin + lasted)])
    passed = now.wall - pause.since if now.wall >= pause.since else LOST_CLOCK_SECONDS
    found = [(pause.since, pause.since + min(passed, limit))]
    if pause.seconds is None and now.boot:
        found.append((now.wall - now.up, now.wall))
    return _joined(found)


def covers(spans: Iterable[Span], moment: float) -> bool:
    """Whether a moment, Unix seconds, lies in one of them."""
    return any(begin <= moment < end for begin, end in spans)


def _joined(spans: Iterable[Span]) -> Sequence[Span]:
    """Return two as one where they meet."""
    found: list[Span] = []
    for begin, end in sorted((begin - CUT_SECONDS, end) for begin, end in spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found
