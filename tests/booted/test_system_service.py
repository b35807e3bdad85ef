"""The machine's own service, under a real systemd as the first process."""

import json
import time
from pathlib import Path

import pytest

from memsyncd.platforms.transport import DEFAULT_WRITE_SECONDS
from tests.booted import platforms
from tests.booted.machine import ACCOUNT, PYTHON, Machine
from tests.fakes.mem0_api import KEY

pytestmark = pytest.mark.booted

DROP_IN = "/run/systemd/system/memsyncd.service.d/trial.conf"
STOP_SECONDS = 18.0
"""Less than what the unit gives a stop before it kills."""

QUICK = "[Service]\nRestartSec=200ms\n"


def drop_in(machine: Machine, content: str) -> None:
    machine.write(DROP_IN, content, mode=0o644)
    machine.run("systemctl", "daemon-reload")


def install(machine: Machine, *options: str) -> None:
    machine.memsyncd("service", "install", "--system", *options)


def hook(machine: Machine, action: str, **hook_input: str) -> str:
    """Leave a handoff as an agent of the service's account does; return what the agent is told."""
    content = json.dumps({"session_id": "s", "cwd": "/var/lib/memsyncd", **hook_input})
    words = ("hook", action, "--harness", "claude-code")
    return machine.memsyncd(*words, user="memsyncd", text=content, MEMSYNCD_HOME="/var/lib/memsyncd").stdout


def ask(machine: Machine) -> dict[str, str]:
    """Ask at the socket unit's socket, as the service's account."""
    asking = (
        "import json, pathlib; from daemon.status_socket.client import SocketClient; "
        "print(json.dumps(SocketClient(pathlib.Path('/run/memsyncd.sock')).get('/status', seconds=60)))"
    )
    answer = machine.run(PYTHON, "-P", "-c", asking, user="memsyncd")
    found: dict[str, str] = json.loads(answer.stdout)
    return found


def test_it_starts_hardened_and_comes_back_after_a_kill(machine: Machine) -> None:
    """Start returns when the daemon is ready; it runs low and locked in; kill -9 costs one restart; SIGTERM ends it
    cleanly and keeps its state."""
    install(machine)
    assert machine.show("ActiveState") == "active"
    assert machine.show("Type") == "notify"
    machine.until(lambda: machine.show("StatusText").startswith("Nothing waits"), "no status sentence")
    pid = machine.show("MainPID")
    process = machine.run("cat", f"/proc/{pid}/status").stdout
    for line in (f"Uid:\t{ACCOUNT}", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
        assert line in process
    assert machine.run("nsenter", "-t", pid, "-m", "touch", "/usr/x", check=False).stderr.endswith(
        "Read-only file system\n"
    )
    assert machine.run("cat", f"/proc/{pid}/stat").stdout.rpartition(")")[2].split()[16] == "10"  # nice, by proc(5)
    drop_in(machine, QUICK)

    machine.run("kill", "-9", pid)
    machine.until(
        lambda: machine.show("MainPID") not in (pid, "0") and machine.show("ActiveState") == "active", "no new one"
    )
    assert machine.show("NRestarts") == "1"

    began = time.monotonic()
    machine.memsyncd("service", "stop", "--system")
    assert time.monotonic() - began < STOP_SECONDS
    assert machine.show("Result") == "success"
    assert {"daemon.lock", "queue.sqlite3"} <= set(machine.run("ls", "/var/lib/memsyncd").stdout.split())
    assert machine.run("test", "-e", "/run/memsyncd", check=False).returncode == 1


def test_a_daemon_that_hangs_is_ended_by_the_watchdog(machine: Machine) -> None:
    """No sign of progress within WatchdogSec=: SIGABRT, and a new one."""
    install(machine)
    drop_in(machine, f"{QUICK}WatchdogSec=6\nTimeoutAbortSec=1\n")
    machine.run("systemctl", "restart", "memsyncd")
    pid = machine.show("MainPID")
    time.sleep(7)  # longer than the watchdog's time: it is fed
    assert machine.show("MainPID") == pid
    machine.run("kill", "-STOP", pid)
    machine.until(lambda: machine.show("NRestarts") == "1" and machine.show("ActiveState") == "active", "no restart")
    assert "Watchdog timeout" in machine.journal()


def test_a_stop_during_a_call_that_hangs_is_clean(machine: Machine) -> None:
    """The key comes as a credential and is in no environment; SIGTERM ends a call that gets no answer within seconds,
    and the work is kept. A key file that goes away is told, and not tried again and again."""
    platforms.start_silent(machine)
    machine.write("/etc/memsyncd/config.toml", f'[platform]\nkind = "mem0"\nurl = "{platforms.URL}"\n', mode=0o644)
    refused = machine.memsyncd("service", "install", "--system", check=False)
    assert refused.returncode == 78
    assert "mem0_api_key" in refused.stderr
    machine.write("/etc/memsyncd/mem0_api_key", KEY)
    install(machine)
    hook(machine, "user-prompt", prompt="What is the port of the proxy?")
    hook(machine, "stop", last_assistant_message="The proxy listens on 8443.")
    hook(machine, "flush", reason="other")
    machine.until(lambda: platforms.asked(machine), "the platform was not asked")
    assert KEY in platforms.asked(machine)
    assert KEY not in machine.run("cat", f"/proc/{machine.show('MainPID')}/environ").stdout

    began = time.monotonic()
    machine.run("systemctl", "stop", "memsyncd")
    assert time.monotonic() - began < DEFAULT_WRITE_SECONDS - 1.0
    assert machine.show("Result") == "success"
    waiting = machine.memsyncd("status", "--json", user="memsyncd", check=False, MEMSYNCD_HOME="/var/lib/memsyncd")
    jobs = json.loads(waiting.stdout)["jobs"]
    assert jobs["ready"] + jobs["waiting"] + jobs["claimed"] > 0

    machine.run("rm", "/etc/memsyncd/mem0_api_key")
    machine.run("systemctl", "start", "memsyncd", check=False)
    machine.until(lambda: machine.show("ActiveState") == "failed", "it did not fail")
    assert (machine.show("ExecMainStatus"), machine.show("NRestarts")) == ("243", "0")
    assert "mem0_api_key" in machine.memsyncd("service", "status", "--system", check=False).stdout


def test_a_reload_takes_new_settings_and_refuses_wrong_ones(machine: Machine) -> None:
    """One process through both: the new settings are in effect; wrong ones are told, and the old ones stay. A start
    with them fails once, with 78."""
    install(machine)
    pid = machine.show("MainPID")
    config = "/etc/memsyncd/config.toml"
    machine.write(config, '[log]\nlevel = "debug"\n', mode=0o644)
    machine.run("systemctl", "reload", "memsyncd")
    machine.until(lambda: machine.journal().count('"event":"ready"') == 2, "not ready again")
    machine.until(lambda: machine.show("SubState") == "running", "not running again")
    machine.write(config, "[lgo]\n", mode=0o644)
    machine.run("systemctl", "reload", "memsyncd")
    machine.until(lambda: '"event":"reload-refused"' in machine.journal(), "not refused")
    assert machine.show("MainPID") == pid
    machine.run("systemctl", "restart", "memsyncd", check=False)
    machine.until(lambda: machine.show("ActiveState") == "failed", "it did not fail")
    assert (machine.show("ExecMainStatus"), machine.show("NRestarts")) == ("78", "0")
    status = machine.memsyncd("service", "status", "--system", check=False)
    assert status.returncode == 1
    assert "configuration is wrong" in status.stdout


def test_the_socket_starts_it_and_outlives_it(machine: Machine) -> None:
    """A client at the socket unit's socket starts the daemon, waits through a kill, and is answered by the next one;
    commands find it there; nobody else gets in; after the start limit `service start` brings all of it back."""
    install(machine, "--socket")
    machine.run("systemctl", "stop", "memsyncd.service")
    assert machine.run("stat", "-c", "%a %U", "/run/memsyncd.sock").stdout == "600 memsyncd\n"
    first = ask(machine)
    assert str(first["pid"]) == machine.show("MainPID")
    found = machine.memsyncd("status", "--json", user="memsyncd", MEMSYNCD_HOME="/var/lib/memsyncd")
    assert json.loads(found.stdout)["pid"] == first["pid"]
    drop_in(machine, f"[Unit]\nStartLimitBurst=3\n{QUICK}")
    machine.run("kill", "-9", str(first["pid"]))
    assert ask(machine)["pid"] != first["pid"]

    drop_in(machine, f"[Unit]\nStartLimitBurst=3\n{QUICK}ExecStart=\nExecStart=/bin/false\n")
    machine.run("systemctl", "restart", "memsyncd", check=False)
    machine.until(
        lambda: "start-limit-hit" in machine.journal() or "too quickly" in machine.journal(), "no start limit"
    )
    machine.until(lambda: machine.show("ActiveState") == "failed", "it goes on")
    assert machine.memsyncd("service", "status", "--system", check=False).returncode == 1
    drop_in(machine, QUICK)
    machine.memsyncd("service", "start", "--system")
    assert machine.show("ActiveState", "memsyncd.socket") == "active"
    assert str(ask(machine)["pid"]) == machine.show("MainPID")


@pytest.mark.parametrize("options", [(), ("--socket",)], ids=["its own socket", "the socket unit's"])
def test_an_agents_first_prompt_is_told_what_is_known(machine: Machine, options: tuple[str, ...]) -> None:
    """Its hooks find the daemon where the manager has put it."""
    install(machine, *options)
    hook(machine, "user-prompt", prompt="What is the port of the proxy that the shop talks to?")
    hook(machine, "stop", last_assistant_message="The proxy of the shop listens on port 8443.")
    machine.memsyncd("flush", "--wait", user="memsyncd", MEMSYNCD_HOME="/var/lib/memsyncd")
    told = hook(machine, "user-prompt", session_id="next", prompt="Which port does the proxy of the shop listen on?")
    assert "8443" in told


def test_a_handoff_starts_it_and_uninstall_leaves_the_spool(machine: Machine) -> None:
    """With the path unit a handoff that waits starts the daemon. Uninstall removes every unit and nothing that was
    recorded, and gives back what a killed daemon had claimed."""
    install(machine, "--path")
    machine.run("systemctl", "stop", "memsyncd.service")
    hook(machine, "user-prompt", prompt="Which shell do we use?")
    machine.until(lambda: machine.show("ActiveState") == "active", "the path unit did not start it")
    spool = Path("/var/lib/memsyncd/spools/claude-code")
    machine.until(lambda: not machine.run("ls", str(spool / "pending")).stdout, "the handoff was not taken in")

    machine.run("systemctl", "stop", "memsyncd.path", "memsyncd.service")
    machine.write(str(spool / "pending" / "x.running"), "{}", owner=ACCOUNT)
    machine.memsyncd("service", "uninstall", "--system")
    assert machine.run("ls", str(spool / "pending")).stdout == "x.json\n"
    assert machine.run("test", "-s", str(spool / "evidence.sqlite3")).returncode == 0
    assert machine.show("LoadState") == "not-found"
    assert machine.run("ls", "/etc/systemd/system").stdout.count("memsyncd") == 0


def test_a_start_at_work_outlasts_its_time_limit(machine: Machine) -> None:
    """A start that uses the processor, as a migration does, gets more time from systemd; one that hangs is ended."""
    script = (
        "import os, sys, time; from daemon import notify; notify.LOOK_SECONDS = 0.5\n"
        "notifier = notify.Notifier.from_environ(os.environ, os.getpid())\n"
        "with notifier.starting():\n"
        "    end = time.monotonic() + 12\n"
        "    while time.monotonic() < end: sys.argv[1] == 'works' or time.sleep(1)\n"
        "notifier.ready(); time.sleep(60)\n"
    )
    for how in ("works", "hangs"):
        settings = (
            "--property=Type=notify",
            "--property=TimeoutStartSec=5",
            "--property=TimeoutStopSec=1",
            "--no-block",
        )
        machine.run("systemd-run", f"--unit={how}", *settings, PYTHON, "-P", "-c", script, how)
    machine.until(lambda: machine.show("ActiveState", "works") == "active", "it was given no more time")
    assert machine.show("ActiveState", "hangs") != "active"
    assert "hangs.service: start operation timed out" in machine.journal()
