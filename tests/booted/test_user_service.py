"""A user's own service, under a real user manager."""

import json

import pytest

from tests.booted import platforms
from tests.booted.machine import ADA, MEMSYNCD, Machine
from tests.fakes.mem0_api import KEY

pytestmark = pytest.mark.booted

CONFIG = "/home/ada/.config/memsyncd"


def ada(machine: Machine, *words: str, **options: str) -> str:
    """Run a command as ada, over no session at all, as su and cron do."""
    return machine.memsyncd(*words, user="ada", **options).stdout


def hook(machine: Machine, action: str, **hook_input: str) -> None:
    content = json.dumps({"session_id": "s", "cwd": "/home/ada", **hook_input})
    machine.memsyncd("hook", action, "--harness", "claude-code", user="ada", text=content)


def status(machine: Machine) -> str:
    return machine.memsyncd("status", "--json", user="ada", check=False).stdout


def test_work_that_waited_at_power_off_is_done_after_the_next_boot(machine: Machine) -> None:
    """Installed with lingering from outside any session, the daemon runs with no login; what waits for a platform that
    is away survives a power-off, and is delivered by the daemon that the next boot starts, with the credential's key."""
    machine.write(
        f"{CONFIG}/config.toml", f'[platform]\nkind = "mem0"\nurl = "{platforms.URL}"\nmax_cooldown_seconds = 1\n'
    )
    machine.write(f"{CONFIG}/mem0_api_key", KEY, owner=ADA)
    machine.run("chown", "-R", "ada:ada", "/home/ada")
    ada(machine, "service", "install", "--linger")
    hook(machine, "user-prompt", prompt="Where do the backups go?")
    hook(machine, "stop", last_assistant_message="To the second disk, every night.")
    hook(machine, "flush", reason="other")
    machine.until(lambda: json.loads(status(machine))["jobs"]["waiting"] > 0, "nothing waits for the platform")
    machine.power_off()

    machine.boot()
    platforms.start_hosted(machine)
    machine.until(lambda: platforms.commits(machine), "the work was not done after the boot")
    assert len(platforms.commits(machine)) == 1
    assert machine.show("ActiveState", user="ada") == "active"
    assert machine.run("systemctl", "--user", "-M", "ada@", "is-enabled", "memsyncd").stdout == "enabled\n"


def test_install_says_what_is_missing_and_never_as_root(machine: Machine) -> None:
    """Without a manager it says what to type; root installs no user's service; a setting or key that only the shell
    has is refused before anything is written; without lingering there is a warning; its socket is where hooks look;
    a second install replaces the first, and uninstall takes it all away."""
    root = machine.run(*MEMSYNCD, "service", "install", check=False, HOME="/root")
    assert (root.returncode, "as the user" in root.stderr) == (2, True)
    before = machine.memsyncd("service", "install", user="ada", check=False)
    assert (before.returncode, "--linger" in before.stderr) == (2, True)
    machine.run("systemctl", "start", f"user@{ADA}")  # as a login does
    shell = machine.memsyncd("service", "install", user="ada", check=False, MEM0_API_KEY="x" * 8)
    assert (shell.returncode, "MEM0_API_KEY" in shell.stderr) == (78, True)
    assert not machine.run("find", "/home/ada", "-name", "memsyncd.service").stdout

    first = machine.memsyncd("service", "install", "--socket", user="ada")
    assert "loginctl enable-linger ada" in first.stderr
    assert machine.show("Nice", user="ada") == "10"
    machine.run("systemctl", "--user", "-M", "ada@", "stop", "memsyncd.service")
    assert json.loads(status(machine))["state"] != "down"  # the command's connection started it
    machine.until(lambda: machine.show("ActiveState", user="ada") == "active", "the socket did not start it")
    pid = machine.show("MainPID", user="ada")
    again = machine.memsyncd("service", "install", user="ada")
    assert machine.show("MainPID", user="ada") not in (pid, "0")
    assert "removed /home/ada/.config/systemd/user/memsyncd.socket" in again.stderr
    shown = json.loads(ada(machine, "service", "status", "--json"))
    assert (shown["active"], shown["version"], shown["linger"]) == ("running", "0.1.0", False)
    ada(machine, "service", "uninstall")
    assert machine.memsyncd("service", "status", user="ada", check=False).returncode == 3


def test_odd_paths_reach_the_daemon_as_they_are(machine: Machine) -> None:
    """Blanks, quotes, dollar and percent signs in the interpreter's path and in MEMSYNCD_HOME: systemd starts just that
    program with just that directory, or the install would not see it answer (never-again 97)."""
    odd = "$HOME %h \"a\" 'b' \\c é"
    machine.run("cp", "-a", "/opt/memsyncd/venv", f"/opt/{odd}")
    machine.run("systemctl", "start", f"user@{ADA}")
    python, data = f"/opt/{odd}/bin/python", f"/home/ada/{odd}"
    options = ("install", "--path", "--socket")
    machine.run(python, "-P", "-m", "daemon", "service", *options, user="ada", MEMSYNCD_HOME=data)
    pid = machine.show("MainPID", user="ada")
    assert machine.run("cat", f"/proc/{pid}/cmdline").stdout.split("\0")[:2] == [python, "-P"]
    machine.run("systemctl", "--user", "-M", "ada@", "stop", "memsyncd.service")
    machine.write(f"{data}/spools/claude-code/pending/x.json", "{}", owner=ADA)
    machine.run("chown", "-R", "ada:ada", f"{data}/spools")
    machine.until(lambda: machine.show("ActiveState", user="ada") == "active", "the path unit did not start it")
    machine.run("systemctl", "--user", "-M", "ada@", "stop", "memsyncd.path", "memsyncd.service")
    asked = machine.memsyncd("status", "--json", user="ada", MEMSYNCD_HOME=data)
    assert json.loads(asked.stdout)["state"] != "down"  # where its hooks look, and so the question started it
