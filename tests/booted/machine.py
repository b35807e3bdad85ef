"""A throw-away machine: this one's own systemd, booted for real in namespaces of its own (`boot.sh` says how)."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
SYSTEMD = Path("/lib/systemd/systemd")
NEEDED = ("unshare", "nsenter", "setpriv", "dbus-daemon", "loginctl")

BOOT_SECONDS = 55.0
"""Usually one. Where a processor is so busy that the bus gives its first call up, after 25, it comes up afterwards; two such
boots fit into a test's time."""
PATIENCE = 60.0
"""Seconds that what is expected may take on a busy machine."""

PYTHON = "/opt/memsyncd/venv/bin/python"
MEMSYNCD = (PYTHON, "-P", "-m", "daemon")

ADA, ACCOUNT = 4242, 4343
"""A user, and the account of the machine's own service."""

HOMES = {"ada": "/home/ada", "memsyncd": "/var/lib/memsyncd"}

Done = subprocess.CompletedProcess[str]


def why_not() -> str:
    """Return why no machine can be booted here, empty where one can be tried."""
    if not sys.platform.startswith("linux"):
        return "this is no Linux"
    if os.geteuid() != 0:
        return "this is not root: namespaces, mounts and cgroups of a whole system need it"
    if not SYSTEMD.exists():
        return "systemd is not installed"
    missing = [name for name in NEEDED if shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


class CannotBoot(Exception):
    """This machine does not let a systemd boot; the message is what it said."""


class Machine:
    """Boots, runs commands, is powered off, and boots again with what was written below `/home`, `/var/lib/memsyncd`,
    `/etc/memsyncd` and the list of users that linger."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="memsyncd-booted-"))
        (self.directory / "disk").mkdir()
        self._kept = self.directory / "kept"
        binds = {
            Path(sys.base_prefix): "/opt/memsyncd/python",
            REPOSITORY: "/opt/memsyncd/source",
            Path(sysconfig.get_path("purelib")): "/opt/memsyncd/packages",
            self.kept("/var/lib/memsyncd", ACCOUNT): "/var/lib/memsyncd",
            self.kept("/etc/memsyncd", 0): "/etc/memsyncd",
            self.kept("/home/ada", ADA): "/home/ada",
            self.kept("/var/lib/systemd/linger", 0): "/var/lib/systemd/linger",
        }
        (self.directory / "binds").write_text("".join(f"{host}\t{inside}\n" for host, inside in binds.items()))
        (self.directory / "seed").write_text(_seed())
        self._first: subprocess.Popen[bytes] | None = None
        self.pid = 0

    def kept(self, inside: str, owner: int = 0) -> Path:
        """Return the host's directory that is `inside` in every boot."""
        path = self._kept / inside.strip("/").replace("/", "-")
        if not path.exists():
            path.mkdir(parents=True)
            os.chown(path, owner, owner)
        return path

    def boot(self) -> None:
        """Start it, and wait until it is up. Raises CannotBoot."""
        for name in ("cgroups", "cgroup-directories"):
            (self.directory / name).unlink(missing_ok=True)
        with (self.directory / "console").open("ab") as console:
            self._first = subprocess.Popen(
                [
                    "setpriv",
                    "--pdeathsig=KILL",  # a test runner that is killed leaves no machine running
                    "unshare",
                    "--pid",
                    "--fork",
                    "--kill-child",
                    "bash",
                    str(Path(__file__).with_name("boot.sh")),
                    str(self.directory),
                ],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
            )
        end = time.monotonic() + BOOT_SECONDS
        while not self._is_up():
            if self._first.poll() is not None or time.monotonic() > end:
                raise CannotBoot(f"systemd did not come up here: {self._why_not_up()}")
            time.sleep(0.05)

    def _why_not_up(self) -> str:
        """Return all that can be known of a boot that went wrong: without it nobody can mend it from a log."""
        assert self._first is not None
        said = (self.directory / "console").read_text(errors="replace")[-1500:]
        if (code := self._first.poll()) is not None:
            return f"its first process exited with {code}: {said or 'it said nothing'}"
        if not self.pid:
            return f"nothing was started in {BOOT_SECONDS:.0f} s: {said or 'it said nothing'}"
        asked = (("is-system-running",), ("list-jobs",), ("--failed",))
        told = [self.run("systemctl", "--no-pager", *words, check=False, seconds=10.0) for words in asked]
        return "\n".join([said, *(answer.stdout + answer.stderr for answer in told), self.journal(40)])

    def _is_up(self) -> bool:
        assert self._first is not None
        children = Path(f"/proc/{self._first.pid}/task/{self._first.pid}/children")
        try:
            self.pid = int(children.read_text().split()[0])
            if Path(f"/proc/{self.pid}/exe").resolve().name != "systemd":
                return False
        except (OSError, IndexError):
            return False
        return self.run("systemctl", "is-system-running", check=False).stdout.strip() in {"running", "degraded"}

    def run(
        self, *words: str, check: bool = True, user: str = "", text: str = "", seconds: float = 60.0, **environ: str
    ) -> Done:
        """Run a command inside, as root or a user with nothing but a login's variables."""
        given = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
        as_whom: tuple[str, ...] = ()
        if user:
            given |= {"HOME": HOMES[user], "USER": user, "LOGNAME": user}
            as_whom = ("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--")
        given |= environ
        done = subprocess.run(
            ["nsenter", f"--target={self.pid}", "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "--", *as_whom,
             "env", "-i", *(f"{name}={value}" for name, value in given.items()), *words],
            input=text,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(
                f"{' '.join(words)} exited {done.returncode}: {done.stdout}{done.stderr}\n{self.journal(40)}"
            )
        return done

    def memsyncd(self, *words: str, **options: Any) -> Done:
        """Run a memsyncd command."""
        return self.run(*MEMSYNCD, *words, **options)

    def show(self, name: str, unit: str = "memsyncd.service", user: str = "") -> str:
        """Return a property of a unit; with `user` of that user's manager."""
        mode = ("--user", "-M", f"{user}@") if user else ()
        return self.run("systemctl", *mode, "show", "-P", name, unit).stdout.strip()

    def until(self, condition: Callable[[], Any], failure: str, seconds: float = PATIENCE) -> None:
        """Wait for a state; fail with the journal where it does not come."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{failure}\n{self.journal(40)}")
            time.sleep(0.1)

    def journal(self, lines: int = 10_000) -> str:
        """Return the last lines of the machine's journal."""
        return self.run("journalctl", "-b", "--no-pager", "-o", "cat", "-n", str(lines), check=False).stdout

    def write(self, inside: str, content: str, *, owner: int = 0, mode: int = 0o600) -> None:
        """Write a file inside."""
        place = Path(f"/proc/{self.pid}/root{inside}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
        place.chmod(mode)
        os.chown(place, owner, owner)

    def power_off(self) -> None:
        """Shut down in order, and wait until nothing is left."""
        self.run("systemctl", "poweroff", check=False)
        self._gone()

    def close(self) -> None:
        """End it at once if it runs, and leave nothing behind."""
        if self._first is not None and self._first.poll() is None:
            self._first.kill()  # its --kill-child takes the first process, and the kernel all of the namespace
        self._gone()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _gone(self) -> None:
        if self._first is not None:
            self._first.wait(60)
            self._first = None
        listed = self.directory / "cgroup-directories"
        for directory in listed.read_text().split() if listed.exists() else ():
            _remove_groups(Path(directory))


def _remove_groups(directory: Path) -> None:
    """Remove a tree of cgroups whose last process has just gone."""
    for _ in range(100):
        for path, _, _ in os.walk(directory, topdown=False):
            try:
                os.rmdir(path)
            except OSError:
                time.sleep(0.02)
        if not directory.exists():
            return


def _seed() -> str:
    """Return the script that makes the users and the environment in which memsyncd is installed there."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    library = "/opt/memsyncd/python/lib" if sysconfig.get_config_var("Py_ENABLE_SHARED") else ""
    return f"""
root=$1
if [ -n "{library}" ]; then  # where it was built for, an account of the machine's may not look
    echo {library} >"$root/etc/ld.so.conf.d/00-memsyncd.conf"
    chroot "$root" ldconfig
fi
cat >>"$root/etc/passwd" <<'END'
ada:x:{ADA}:{ADA}::/home/ada:/bin/bash
memsyncd:x:{ACCOUNT}:{ACCOUNT}::/var/lib/memsyncd:/usr/sbin/nologin
END
printf 'ada:x:{ADA}:\\nmemsyncd:x:{ACCOUNT}:\\n' >>"$root/etc/group"
printf 'ada:*:19000:0:99999:7:::\\nmemsyncd:*:19000:0:99999:7:::\\n' >>"$root/etc/shadow"
chmod 755 "$root/opt" "$root/opt/memsyncd" "$root/etc/memsyncd"
for shared in python source packages; do mount -n -o remount,bind,ro "$root/opt/memsyncd/$shared"; done
venv=$root/opt/memsyncd/venv
mkdir -p "$venv/bin" "$venv/lib/python{version}/site-packages"
ln -s /opt/memsyncd/python/bin/python{version} "$venv/bin/python"
printf 'home = /opt/memsyncd/python/bin\\nversion = {version}\\n' >"$venv/pyvenv.cfg"
printf '/opt/memsyncd/source\\n/opt/memsyncd/packages\\n' >"$venv/lib/python{version}/site-packages/memsyncd.pth"
"""
