"""Plays the recording through the real hook into a real daemon, and tells each step."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from daemon import private_directory
from daemon.cli.outlet import OutputLost
from daemon.cli.wording import counted
from daemon.demo.recording import EXPECTED, NEXT_SESSION, QUESTION, SECRET, Step, steps
from daemon.places import resolve
from daemon.status_socket.client import ClientError, SocketClient
from memsyncd.hooks.command_line import command_line

DEADLINE_SECONDS = 30.0
"""The whole demo (issue item 8)."""

HARNESS = "claude-code"

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals after which nothing is left behind either. Ctrl-C is KeyboardInterrupt, which does the same."""


class DemoFailed(Exception):
    """A step did not do what it should; the message says which."""


class _Ended(Exception):
    """A signal asked for the end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@click.command(name="demo")
@click.option("--keep", is_flag=True, help="Keep the throw-away directory and say where it is.")
def demo(*, keep: bool) -> int:
    """Play a recorded session through the real hook in a throw-away directory, offline, and find a memory of it."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _end)
    home = Path(tempfile.mkdtemp(prefix="memsyncd-demo-"))
    try:
        return play(home, sys.stdout, is_kept=keep)
    except DemoFailed as failure:
        click.echo(f"The demo failed: {failure}", err=True)
        return 1
    except _Ended as ended:
        return 128 + ended.number
    finally:
        if keep:
            click.echo(f"Kept: {home}")
        else:
            shutil.rmtree(home, ignore_errors=True)


def _end(number: int, _frame: object) -> NoReturn:
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)  # once is enough, and what follows is short
    raise _Ended(number)


def main(arguments: Sequence[str]) -> int:
    """Run the demo; return its exit code."""
    return int(demo.main(args=list(arguments), prog_name="memsyncd demo", standalone_mode=False) or 0)


def play(home: Path, out: TextIO, *, is_kept: bool = True) -> int:
    """Play in the empty directory `home`, telling each step on `out`; raises DemoFailed.

    Where it is not kept, the daemon removes it when this process is killed.
    """
    began = time.monotonic()
    environ = _environment(home)
    project = _repository(home)
    places = resolve(environ, home, os.getuid(), sys.platform)
    client = SocketClient(places.status_socket)
    _tell(out, "A throw-away home", f"{home} (embedded platform: no account, no network)")
    daemon = subprocess.Popen(  # noqa: S603  (ourselves; -P: nothing that lies in the present directory is imported)
        [sys.executable, "-P", "-m", "daemon.demo.attended", "" if is_kept else str(home)],
        env=environ,
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        _until_ready(client, daemon, began)
        _tell(out, "The daemon is up", f"socket {places.status_socket}")
        follower = _Follower(client, out)
        follower.start()
        for step in steps(project):
            _hook(step, environ, out)
        _until(lambda: _is_quiet(client), began, "the evidence was not delivered in time")
        follower.stop()
        _check(client, home, project, out)
        _next_session(project, environ, out)
        _tell(out, "Done", f"in {time.monotonic() - began:.1f} s. Now: memsyncd run")
        return 0
    finally:
        daemon.terminate()
        with suppress(subprocess.TimeoutExpired):
            daemon.wait(timeout=6)
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait()
        assert daemon.stdin is not None
        daemon.stdin.close()


def _environment(home: Path) -> dict[str, str]:
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR", "COVERAGE_PROCESS_START", "PYTHONPATH")
    environ = {name: os.environ[name] for name in kept if name in os.environ}
    return environ | {"HOME": str(home), "USER": "demo", "MEMSYNCD_HOME": str(home / "memsyncd")}


def _repository(home: Path) -> Path:
    """Make the project the session works in: a working tree with a remote, as git leaves it, without calling git."""
    project = home / "shop"
    private_directory.create(project / ".git")
    config = '[remote "origin"]\n\turl = git@git.example.org:corner/shop.git\n'
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", config)):
        with open(project / ".git" / name, "w", encoding="utf-8", opener=partial(os.open, mode=0o600)) as file:
            file.write(text)
    return project


def _hook(step: Step, environ: Mapping[str, str], out: TextIO) -> None:
    printed, took = _run(step.action, step.hook_input, environ, reason=step.reason)
    if printed:
        raise DemoFailed(f"the hook for {step.action} printed {printed!r}")
    _tell(out, f"hook {step.action}" + (f" ({step.reason})" if step.reason else ""), f"{step.note} [{took:.0f} ms]")


def _run(
    action: str, hook_input: Mapping[str, Any], environ: Mapping[str, str], *, reason: str = ""
) -> tuple[bytes, float]:
    """Run the hook line as the harness would; return what it printed, and its milliseconds."""
    began = time.monotonic()
    done = subprocess.run(  # noqa: S603  (our own hook line, from our own interpreter)
        ["/bin/sh", "-c", command_line(action, HARNESS, reason=reason)],
        input=json.dumps(hook_input).encode(),
        env=environ,
        check=False,
        capture_output=True,
    )
    if done.returncode:
        raise DemoFailed(f"the hook for {action} exited {done.returncode}")
    return done.stdout, (time.monotonic() - began) * 1000


def _next_session(project: Path, environ: Mapping[str, str], out: TextIO) -> None:
    """Show what the agent is told beside the first prompt of its next session."""
    hook_input = {
        "session_id": NEXT_SESSION,
        "cwd": str(project),
        "hook_event_name": "UserPromptSubmit",
        "prompt": QUESTION,
    }
    printed, took = _run("user-prompt", hook_input, environ)
    _tell(out, "The next session's prompt", f"{QUESTION} [{took:.0f} ms]")
    context = json.loads(printed)["hookSpecificOutput"]["additionalContext"] if printed else ""
    for line in context.splitlines():
        _tell(out, "  told", line)
    if EXPECTED not in context:
        raise DemoFailed("the next session was not told of it")


def _check(client: SocketClient, home: Path, project: Path, out: TextIO) -> None:
    leaks = [path for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    if leaks:
        raise DemoFailed(f"the planted secret is in {leaks[0]}")
    _tell(out, "The planted secret", "is in no file below that home")
    answer = client.post("/search", {"query": QUESTION, "cwd": str(project), "top_k": 3})
    found = [memory["memory"] for memory in answer.get("memories", ())]
    _tell(out, "A question in other words", QUESTION)
    for text in found:
        _tell(out, "  found", text)
    if not any(EXPECTED in text for text in found):
        raise DemoFailed("the memory was not found")


def _is_quiet(client: SocketClient) -> bool:
    """Whether everything dropped was taken in, delivered and confirmed."""
    status = client.get("/status")
    spools, jobs = status["spools"], status["jobs"]
    waiting = sum(spool["pending"] + spool["running"] for spool in spools)
    return (
        bool(spools) and not waiting and not jobs["ready"] and not jobs["claimed"] and not status["extraction"]["open"]
    )


def _until_ready(client: SocketClient, daemon: "subprocess.Popen[bytes]", began: float) -> None:
    def is_ready() -> bool:
        if daemon.poll() is not None:
            raise DemoFailed(f"the daemon ended with exit code {daemon.returncode}")
        try:
            return bool(client.get("/status")["state"] == "ok")
        except ClientError:
            return False

    _until(is_ready, began, "the daemon did not get ready")


def _until(condition: Any, began: float, failure: str) -> None:
    while not condition():
        if time.monotonic() - began > DEADLINE_SECONDS:
            raise DemoFailed(failure)
        time.sleep(0.05)


class _Follower(threading.Thread):
    """Tells what the daemon does, from its `/events`, as it happens."""

    def __init__(self, client: SocketClient, out: TextIO) -> None:
        super().__init__(name="follow", daemon=True)
        self._client, self._out = client, out
        self._ended = threading.Event()

    def run(self) -> None:
        """Follow until stopped or until the daemon is gone."""
        seen = 0
        while not self._ended.is_set():
            try:
                for event in self._client.get(f"/events?since={seen}&wait=1")["events"]:
                    seen = event["id"]
                    self._show(event)
            except (ClientError, OSError, OutputLost):  # the main thread meets it too
                return

    def stop(self) -> None:
        """End after the answer awaited."""
        self._ended.set()
        self.join(timeout=2)

    def _show(self, event: Mapping[str, Any]) -> None:
        if event["kind"] == "evidence-recorded":
            events = counted(event["events"], "event", "events")
            _tell(self._out, "  daemon", f"{events} committed as evidence, handoff unlinked")
        elif event["kind"] == "job-finished":
            name = str(event["job"]).partition(":")[0]
            _tell(self._out, f"  {name}", f"{event['outcome']}: {event['why']}")


def _tell(out: TextIO, what: str, how: str) -> None:
    out.write(f"{what:<28} {how}\n")
    out.flush()
