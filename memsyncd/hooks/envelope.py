"""A handoff's text around the hook's own JSON (CONTRACT: "A handoff"), made without parsing that."""

import _json
import posix
import time

SHELLS = frozenset({b"sh", b"bash", b"dash", b"zsh", b"fish", b"ksh", b"ash", b"busybox", b"env"})
MAX_SHELLS = 3
"""Shells to look past between the hook and its harness: `sh -c` of the harness, a wrapper's, and one to spare."""

PARENT, STARTED = 1, 19
"""Places of fields 4 and 22 of proc(5)'s `stat` among those behind the command's name."""


class Event:
    """What happened, as the command line tells it, and when (Unix nanoseconds); `harness` is a valid name."""

    def __init__(self, now: int, action: str, harness: str, reason: str) -> None:
        self.now = now
        self.action = action
        self.harness = harness
        self.reason = reason


def head(event: Event, name: str, extra: str) -> str:
    """Return the text up to the value of `hook_input`, which comes last and then `}`. ASCII.

    `name` is the handoff's id; `extra` is ready members, each behind a comma.
    """
    quote = _json.encode_basestring_ascii
    seconds, rest = divmod(event.now, 1_000_000_000)
    captured = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1_000_000:03d}Z"
    text = f'{{"v": 1, "id": "{name}", "harness": "{event.harness}", "action": {quote(event.action)}'
    if event.reason:
        text += ', "reason": ' + quote(event.reason)
    text += f', "captured_at": "{captured}", "wait_for_inflight": false, "delay_seconds": 0'
    return text + extra + ', "hook_input": '


def surroundings() -> str:
    """Return as members where the hook runs: the harness's process, the directory, and the project if it says so."""
    quote = _json.encode_basestring_ascii
    text = harness_process()
    try:  # noqa: SIM105  (contextlib would be an import)
        text += ', "cwd": ' + quote(posix.getcwdb().decode("utf-8", "replace"))
    except OSError:
        pass  # it was deleted under the agent
    project = posix.environ.get(b"CLAUDE_PROJECT_DIR")
    return text + (', "project": ' + quote(project.decode("utf-8", "replace")) if project else "")


def harness_process() -> str:
    """Return as a member the process that started us, past the shells between; empty without /proc.

    `started` is in clock ticks since boot. `namespace` goes along because seen from another pid namespace, as from
    outside a container, the number means another process or none.
    """
    pid = posix.getppid()
    try:
        for _ in range(MAX_SHELLS + 1):
            stat = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
            line = posix.read(stat, 1024)
            posix.close(stat)
            command, _, behind = line.partition(b"(")[2].rpartition(b")")
            fields = behind.split()
            if pid <= 1:
                return ""
            if command not in SHELLS:
                namespace = _json.encode_basestring_ascii(posix.readlink("/proc/self/ns/pid"))
                started = int(fields[STARTED])
                return f', "process": {{"pid": {pid}, "started": {started}, "namespace": {namespace}}}'
            pid = int(fields[PARENT])
    except (OSError, ValueError, IndexError):
        pass  # another system, or the process has just ended
    return ""
