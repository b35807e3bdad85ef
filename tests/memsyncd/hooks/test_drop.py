"""What a harness sees of the drop, and what it finds in the spool."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memsyncd.hooks import drop as drop_module
from memsyncd.hooks.handoff import parse

STOP = {"session_id": "s1", "hook_event_name": "Stop", "cwd": "/w", "last_assistant_message": "Done."}
HEAVY = re.compile(
    r"\| +(json|re|socket|datetime|pathlib|subprocess|os|enum|typing|collections\.abc|site|signal|memsyncd"
    r"|memsyncd\.(?!hooks\.(dropping|envelope|spool|standard_input)$).*)$"
)


def test_one_event_becomes_one_handoff_as_the_contract_has_it(every: Any) -> None:
    """A drop leaves one file named after its id, with the hook's JSON unchanged and last."""
    raw = b'{"session_id": "s1",  "n": 1.10, "text": "\xc3\xa4\\u00e4"}'
    every(raw + b"\n", "user-prompt", "--harness", "claude-code")
    [path] = every.files()
    assert path.read_bytes().endswith(b'"hook_input": ' + raw + b"}\n")
    document = json.loads(path.read_bytes())
    assert path.parent == every.home / "spools" / "claude-code" / "pending"
    assert document["id"] == path.stem
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", document["captured_at"])
    handoff = parse(document, stem=path.stem)
    assert (handoff.action, handoff.harness, handoff.reason, handoff.delay_seconds) == (
        "user-prompt",
        "claude-code",
        "",
        0.0,
    )
    assert document["v"] == 1
    assert document["cwd"] == str(Path.cwd())
    assert every.log() == []


def test_a_flush_carries_its_reason(drop: Any) -> None:
    """`--reason` lands in the handoff, in either spelling of an option."""
    drop(STOP, "flush", "--harness=codex", "--reason=session-end")
    assert (drop.only()["reason"], drop.only()["harness"]) == ("session-end", "codex")


def test_ids_sort_in_the_order_of_the_events(drop: Any) -> None:
    """Names order handoffs by when their hooks started."""
    for number in range(5):
        drop({"number": number})
    assert [handoff["hook_input"]["number"] for handoff in drop.handoffs()] == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
def test_the_harness_process_is_found_past_its_shells(drop: Any) -> None:
    """The process in the handoff is the one that ran the shell which ran the hook, with its start time."""
    command = "sh -c '" + " ".join(drop.command("stop", "--harness", "claude-code")) + "; true'; true"
    environment = {"MEMSYNCD_HOME": str(drop.home)}
    subprocess.run(["/bin/sh", "-c", command], input=b"{}", check=True, env=environment, timeout=60)
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    process = drop.only()["process"]
    assert (process["pid"], process["started"]) == (os.getpid(), int(fields[19]))
    assert process["namespace"] == str(Path("/proc/self/ns/pid").readlink())


HELPER = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], {}).returncode)"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
@pytest.mark.parametrize(
    "between",
    [
        [sys.executable, "-c", HELPER.format("stdin=sys.stdin")],
        [sys.executable, "-c", HELPER.format("stdin=sys.stdin"), "timeout", "20", "sh", "-c", '"$@"; true', "sh"],
        ["env", "A=b", "timeout", "20", "nice", "timeout", "20", "sh", "-c", '"$@"; true', "sh"],
    ],
    ids=["helper", "helper-and-launchers", "launchers"],
)
def test_the_harness_process_is_found_past_helpers(drop: Any, between: list[str]) -> None:
    """What merely hands the harness's pipe on, and what is known to run other programs, is gone with the hook: it is
    not the process whose end is the session's."""
    environment = {"PATH": os.defpath, "MEMSYNCD_HOME": str(drop.home)}
    command = [*between, *drop.command("stop", "--harness", "claude-code")]
    subprocess.run(command, input=b"{}", check=True, env=environment, timeout=60)
    assert drop.only()["process"]["pid"] == os.getpid()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
def test_a_harness_just_begun_is_the_harness(drop: Any) -> None:
    """A program of any name that sends the JSON itself is taken for the harness, however young it is."""
    agent = [sys.executable, "-c", HELPER.format("input=b'{}'"), *drop.command("stop", "--harness", "claude-code")]
    environment = {"MEMSYNCD_HOME": str(drop.home)}
    with subprocess.Popen(agent, stdin=subprocess.PIPE, env=environment) as process:
        process.wait(timeout=60)
    assert drop.only()["process"]["pid"] == process.pid


def test_the_project_directory_goes_along(drop: Any) -> None:
    """The project the harness names in its environment is in the handoff, as is its own directory where that was moved,
    and a deleted directory is no obstacle."""
    gone = drop.home.parent / "gone"
    gone.mkdir()
    drop.environment |= {"CLAUDE_PROJECT_DIR": "/w/shop", "CLAUDE_CONFIG_DIR": "/disk/claude", "CODEX_HOME": "/x"}
    process = drop.start(cwd=gone, preexec_fn=gone.rmdir)
    process.communicate(json.dumps(STOP).encode(), timeout=60)
    assert (drop.only()["project"], drop.only()["harness_home"]) == ("/w/shop", "/disk/claude")
    assert "cwd" not in drop.only()


def test_no_heavy_module_is_loaded(every: Any) -> None:
    """The ordinary path imports nothing that has a price, and no `__init__` of ours."""
    command = every.command("stop", "--harness", "claude-code")
    command.insert(3, "-Ximporttime")
    environment = {"MEMSYNCD_HOME": str(every.home)}
    process = subprocess.run(command, input=b"{}", capture_output=True, env=environment, check=True, timeout=60)
    lines = process.stderr.decode().splitlines()
    assert any(line.endswith("memsyncd.hooks.spool") for line in lines)
    assert [line for line in lines if HEAVY.search(line)] == []


def test_the_command_s_way_in_drops_the_same(drop: Any) -> None:
    """`main`, imported from the package, returns 0 and leaves the same handoff."""
    code = "import sys; from memsyncd.hooks.drop import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "stop", "--harness", "claude-code"]
    environment = {"MEMSYNCD_HOME": str(drop.home), "PYTHONPATH": str(Path(drop_module.__file__).parents[2])}
    subprocess.run(command, input=json.dumps(STOP).encode(), env=environment, check=True, timeout=60)
    assert drop.only()["hook_input"] == STOP


@pytest.mark.parametrize(
    ("words", "action", "harness"),
    [
        ((), "unknown", "generic"),
        (("post-compact",), "post-compact", "generic"),
        (("stop", "--harness"), "stop", "generic"),
        (("stop", "--harness", "../../etc"), "stop", "generic"),
        (("stop", "--harness", "x" * 41), "stop", "generic"),
        (("stop", "--harness", "-x"), "stop", "generic"),
        (("--harness", "kimi", "a\nb\udcff", "more"), "a\nb\ufffd", "kimi"),
    ],
)
def test_wrong_use_is_recorded_and_never_fails(drop: Any, words: tuple[str, ...], action: str, harness: str) -> None:
    """An unknown action is kept as it is; a harness that cannot be a directory's name is `generic`, with a line."""
    process = subprocess.Popen(
        [part.encode("utf-8", "surrogateescape") for part in drop.command(*words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"MEMSYNCD_HOME": str(drop.home)},
    )
    printed, _ = process.communicate(b"{}", timeout=60)
    assert (process.returncode, printed) == (0, b"")
    assert (drop.only()["action"], drop.only()["harness"]) == (action, harness)
    assert bool(drop.log()) == (harness == "generic")


def test_modes_are_private_whatever_the_umask(drop: Any) -> None:
    """Directories are 0700 and files 0600 under a umask that would give all, and under one that would give nothing."""
    for umask in (0o000, 0o777):
        drop(b"no json", preexec_fn=lambda umask=umask: os.umask(umask))
    found = {path: path.stat().st_mode & 0o777 for path in [drop.home, *drop.home.rglob("*")]}
    assert len(drop.files()) == 2
    assert drop.log()
    assert {mode for path, mode in found.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in found.items() if path.is_file()} == {0o600}


def test_fifty_at_once_lose_nothing(drop: Any) -> None:
    """Fifty hooks at the same time, into a home that none of them finds, leave fifty handoffs and no other file."""
    processes = []
    for number in range(50):
        processes.append(drop.start())
        processes[-1].stdin.write(b'{"number": %d}' % number)
        processes[-1].stdin.close()
    assert {process.wait(timeout=60) for process in processes} == {0}
    assert sorted(handoff["hook_input"]["number"] for handoff in drop.handoffs()) == list(range(50))
    assert len(list((drop.home / "spools/claude-code/pending").iterdir())) == 50
    assert drop.log() == []


@pytest.mark.parametrize("marker", ["spools/claude-code/paused", "paused"])
def test_a_paused_hook_reads_all_and_writes_nothing(drop: Any, marker: str) -> None:
    """While paused, the input is drained so that the harness sees no broken pipe, and nothing is written."""
    path = drop.home / marker
    path.parent.mkdir(parents=True)
    path.touch()
    drop(b'{"text": "' + b"x" * 1_000_000 + b'"}')
    assert drop.files() == []
    assert not list(drop.home.rglob("pending"))
    assert drop.log() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_reading_and_loses_nothing(drop: Any, number: signal.Signals) -> None:
    """A signal while input is awaited ends the hook with exit code 0 and not a word, and what was read is kept."""
    process = drop.start()
    process.stdin.write(b'{"session_id": "s1"')
    process.stdin.flush()
    wait_until_it_catches(process.pid, signal.SIGHUP)  # the last it takes over
    process.send_signal(number)
    assert process.wait(timeout=60) == 0
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert drop.only()["raw"] == '{"session_id": "s1"'


def wait_until_it_catches(pid: int, number: int) -> None:
    """Return once the process has a handler for the signal."""
    for _ in range(1000):
        caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())
        if caught and int(caught[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.005)
    raise AssertionError("no handler")


def test_a_stalled_disk_does_not_keep_the_hook(drop: Any, tmp_path: Path) -> None:
    """Where a step on the disk never returns, the alarm ends the hook: exit code 0, a line, nothing printed."""
    code = (
        "import sys, time; from memsyncd.hooks import drop, dropping, spool; dropping.DISK_SECONDS = 1\n"
        "spool.write = lambda *_: time.sleep(600); sys.exit(drop.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "stop", "--harness", "claude-code"]
    environment = {"MEMSYNCD_HOME": str(drop.home), "PYTHONPATH": str(Path(drop_module.__file__).parents[2])}
    subprocess.run(command, input=b"{}", env=environment, check=True, timeout=60)
    assert [words[1:] for words in drop.log()] == [["stop", "claude-code", "TimeoutError", "-"]]


def test_a_broken_installation_is_silent(drop: Any, tmp_path: Path) -> None:
    """With its neighbours missing the drop still exits 0 and prints nothing."""
    alone = tmp_path / "drop.py"
    alone.write_bytes(Path(drop_module.__file__).read_bytes())
    command = [sys.executable, "-I", "-S", str(alone), "stop", "--harness", "claude-code"]
    process = subprocess.run(command, input=b"{}", capture_output=True, check=True, timeout=60)
    assert process.stdout + process.stderr == b""


def test_a_home_on_the_command_line_goes_before_the_environments(drop: Any, tmp_path: Path) -> None:
    """A harness started without MEMSYNCD_HOME still drops where its hook line says."""
    elsewhere = tmp_path / "else where"
    drop({"a": 1}, "stop", "--harness", "kimi", "--home", str(elsewhere))
    assert len(list(elsewhere.glob("spools/kimi/pending/*.json"))) == 1
    drop({"a": 1}, "stop", "--harness", "kimi", "--home", "relative")
    assert len(drop.files()) == 1
