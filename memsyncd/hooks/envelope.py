"""A handoff's text around the hook's own JSON (CONTRACT: "A handoff"), made without parsing that."""

import _json
import posix
import time

BETWEEN = frozenset(
    b"sh bash dash zsh fish ksh ash busybox env timeout nice ionice nohup setsid stdbuf time flock script sudo su doas"
    b" xargs npx npm pnpm yarn uv uvx".split()
)
"""Shells, and programs that run another one: never the harness. Named, for some give what they run a pipe or a
terminal of their own, and of another user's the standard input cannot be told."""

MAX_BETWEEN = 8
"""Processes to look past between the hook and its harness: a shell, a wrapper and its shell are three."""

PIPE, SOCKET, KIND = 0o010000, 0o140000, 0o170000
"""inode(7): through which of them harnesses send the hook's JSON, and the mask. (`stat` would be an import.)"""

MARKER = b"/.memsyncd-ignore"
"""In a directory, it excludes what lies below."""

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


MOVED = {
    "claude-code": b"CLAUDE_CONFIG_DIR",
    "codex": b"CODEX_HOME",
    "copilot": b"COPILOT_HOME",
    "kimi": b"KIMI_CODE_HOME",
    "kimi-cli": b"KIMI_SHARE_DIR",
}
"""The environment variable by which a harness's own directory, with its transcripts, is moved. The daemon has another
environment."""


def surroundings(harness: str) -> str:
    """Return as members where the hook runs: the harness's process, the directory, the one that excludes it, the
    project if it says so, and the harness's own directory if that was moved."""
    quote = _json.encode_basestring_ascii
    text = harness_process()
    try:
        directory = posix.getcwdb()
        text += ', "cwd": ' + quote(directory.decode("utf-8", "replace"))
        excluded = excluded_below(directory)
        if excluded:
            text += ', "excluded": ' + quote(excluded.decode("utf-8", "replace"))
    except OSError:
        pass  # it was deleted under the agent
    for name, variable in (("project", b"CLAUDE_PROJECT_DIR"), ("harness_home", MOVED.get(harness, b""))):
        told = posix.environ.get(variable)
        if told:
            text += f', "{name}": ' + quote(told.decode("utf-8", "replace"))
    return text


def excluded_below(directory: bytes) -> bytes:
    """Return the directory, this one or above it, in which the marker lies; empty where none does.

    The daemon looks for it too (`daemon.gate`), but it may look only when the marker is gone. As git does, this goes no
    further than the repository's root and the file system: an automounter would be asked for names. Raises OSError.
    """
    device = posix.stat(directory).st_dev
    while directory[:1] == b"/":
        if is_there(directory + MARKER):
            return directory
        above = directory.rpartition(b"/")[0] or b"/"
        if is_there(directory + b"/.git") or above == directory or posix.stat(above).st_dev != device:
            break
        directory = above
    return b""


def is_there(path: bytes) -> bool:
    """Tell whether something has that name, be it a link into nothing."""
    try:
        posix.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return True


def harness_process() -> str:
    """Return as a member the process that started us, past those in between; empty without /proc.

    In between are the programs of BETWEEN, and any helper whose standard input is the very pipe that is ours: the
    harness holds the other end of it. Such a helper is gone when the hook is, and taken for the harness would make
    of every turn a session that has ended. One that reads the JSON and sends it on through a pipe of its own cannot be
    told from a harness, and is taken for one.

    `started` is in clock ticks since boot. `namespace` goes along because seen from another pid namespace, as from
    outside a container, the number means another process or none.
    """
    pid = posix.getppid()
    ours = _pipe(0)
    try:
        for _ in range(MAX_BETWEEN + 1):
            stat = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
            line = posix.read(stat, 1024)
            posix.close(stat)
            command, _, behind = line.partition(b"(")[2].rpartition(b")")
            fields = behind.split()
            if pid <= 1:
                return ""
            # npm names itself after what it runs: "npm exec tool"
            is_between = command.partition(b" ")[0] in BETWEEN
            if not is_between and not (ours and _pipe(f"/proc/{pid}/fd/0") == ours):
                namespace = _json.encode_basestring_ascii(posix.readlink("/proc/self/ns/pid"))
                started = int(fields[STARTED])
                return f', "process": {{"pid": {pid}, "started": {started}, "namespace": {namespace}}}'
            pid = int(fields[PARENT])
    except (OSError, ValueError, IndexError):
        pass  # another system, or the process has just ended
    return ""


def _pipe(file: "int | str") -> "tuple[int, int] | None":
    """Return what tells one pipe or socket from every other; None where it is neither, or cannot be looked at."""
    try:
        found = posix.stat(file)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_mode & KIND in (PIPE, SOCKET) else None
