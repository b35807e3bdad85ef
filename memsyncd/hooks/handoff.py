"""The handoff: one JSON file a hook leaves behind, one thing that happened or one thing to do.

The format is CONTRACT's "A handoff". Handoffs of existing plugins carry only `hook_input`, `reason`,
`wait_for_inflight` and `delay_seconds`: they are flushes of the spool's own harness.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

VERSION = 1

RECORD_ACTIONS = frozenset(
    {"session-start", "user-prompt", "post-tool", "post-tool-failure", "stop", "subagent-start", "subagent-stop"}
)
FLUSH = "flush"
REASONS = frozenset({"session-end", "pre-compact", "periodic", "idle", "manual", "checkpoint"})

MAX_DELAY_SECONDS = 7 * 24 * 3600.0
"""A longer wait than a handoff may live (CONTRACT: 7 days) is cut to it."""

MAX_WORD = 200
"""Characters of an id, a harness, a time or a reason; what is longer is none, and is read as absent."""

MAX_PID, MAX_STARTED = 1 << 31, 1 << 64
"""Beyond these no kernel numbers a process or counts its ticks (proc(5))."""


class NotAHandoffError(ValueError):
    """The JSON is well formed but is no handoff; the message says which part is wrong."""


@dataclass(frozen=True, slots=True)
class HarnessProcess:
    """The agent's own process, as the hook saw it, so that its end can be noticed.

    `started` is the kernel's start time in clock ticks since boot: it tells a reused pid apart. `namespace` is the
    hook's pid namespace as /proc/self/ns/pid names it, empty if unknown: in another one the pid means nothing.
    """

    pid: int
    started: int
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Handoff:
    """A parsed handoff. `id` is the file's stem where the handoff carries none (existing plugins)."""

    id: str
    action: str
    hook_input: Mapping[str, Any]
    harness: str = ""
    captured_at: str = ""
    reason: str = ""
    wait_for_inflight: bool = False
    delay_seconds: float = 0.0
    process: HarnessProcess | None = None
    cwd: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_flush(self) -> bool:
        """Whether this asks for a delivery rather than records an event."""
        return self.action == FLUSH


_KNOWN = frozenset(
    {
        "v",
        "id",
        "harness",
        "action",
        "captured_at",
        "hook_input",
        "reason",
        "wait_for_inflight",
        "delay_seconds",
        "process",
        "cwd",
    }
)


def parse(document: object, *, stem: str) -> Handoff:
    """Return the handoff in a decoded JSON `document` read from a file named `stem` + suffix.

    Unknown keys are kept in `extra`. Raises NotAHandoffError for anything that is not an object with an
    object `hook_input`; other malformed fields are read as absent, for a hook of another version wrote them.
    """
    if not isinstance(document, Mapping):
        raise NotAHandoffError("not a JSON object")
    hook_input = document.get("hook_input")
    if not isinstance(hook_input, Mapping):
        raise NotAHandoffError("hook_input is missing or not an object")
    return Handoff(
        id=_word(document.get("id")) or stem,
        action=_text(document.get("action")) or FLUSH,
        hook_input=hook_input,
        harness=_word(document.get("harness")),
        captured_at=_word(document.get("captured_at")),
        reason=_word(document.get("reason")),
        wait_for_inflight=document.get("wait_for_inflight") is True,
        delay_seconds=_seconds(document.get("delay_seconds")),
        process=_process(document.get("process")),
        cwd=_text(document.get("cwd")),
        extra={key: value for key, value in document.items() if key not in _KNOWN},
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _word(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= MAX_WORD else ""


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    if not value > 0:  # which is so of NaN
        return 0.0
    return float(min(value, MAX_DELAY_SECONDS))  # cut first: an integer may be beyond any float


def _process(value: object) -> HarnessProcess | None:
    if not isinstance(value, Mapping):
        return None
    pid, started = value.get("pid"), value.get("started")
    if isinstance(pid, bool) or isinstance(started, bool) or not isinstance(pid, int) or not isinstance(started, int):
        return None
    if not (1 < pid < MAX_PID and 0 <= started < MAX_STARTED):
        return None
    return HarnessProcess(pid=pid, started=started, namespace=_word(value.get("namespace")))
