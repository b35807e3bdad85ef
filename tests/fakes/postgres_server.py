"""A PostgreSQL server of the tests' own: private, on a Unix socket alone, with every commit on disk as in earnest."""

import atexit
import contextlib
import functools
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

START_SECONDS = 60.0
STOP_SECONDS = 60.0

_PLACES = "/usr/lib/postgresql/*/bin"
"""Where Debian keeps the server's programs, one directory for each version."""

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "32MB",
    "max_connections": "100",
    "max_wal_size": "256MB",
    "logging_collector": "off",
    "log_min_messages": "fatal",
}


def programs() -> Path | None:
    """Return the directory of the newest server's programs; None where there is none."""
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else []
    found += sorted(Path("/").glob(_PLACES.lstrip("/")), key=lambda place: int(place.parent.name))
    return next((place for place in reversed(found) if (place / "postgres").exists()), None)


def _unprivileged() -> dict[str, Any]:
    """Return how to start a program as somebody who is not root: PostgreSQL runs as nobody else."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise RuntimeError("root needs a user `postgres` or `nobody` to run PostgreSQL as")


class PostgresServer:
    """A server below a directory that nobody else can enter. Its superuser is `postgres`, and needs no password."""

    def __init__(self, place: Path, copied_from: "PostgresServer | None" = None, **settings: str) -> None:
        """Make its data; `settings` are the server's own, in place of ours."""
        self.directory = Path(tempfile.mkdtemp(prefix="memsyncd-pg-", dir="/tmp"))
        self._programs = place
        self._settings = _SETTINGS | settings
        self._as = _unprivileged()
        if self._as:
            os.chown(self.directory, self._as["user"], self._as["group"])
        self._numbers = itertools.count()
        self.process: subprocess.Popen[bytes] | None = None
        if copied_from is None:
            self._run("initdb", "--pgdata", self.data, "--no-sync", "--auth=trust", "--username=postgres", "--locale=C", "--encoding=UTF8")  # fmt: skip
        else:
            self._run("pg_basebackup", "--pgdata", self.data, "--no-sync", "--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream", "--username=postgres", "--host", str(copied_from.directory))  # fmt: skip

    @property
    def data(self) -> str:
        """The server's data directory."""
        return str(self.directory / "data")

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = [f"--{name.replace('_', '-')}={value}" for name, value in self._settings.items()]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.data, "-k", self.directory, *settings],
                stdout=log,
                stderr=log,
                cwd=self.directory,
                **self._as,
            )
        end = time.monotonic() + START_SECONDS
        while subprocess.run(
            [self._programs / "pg_isready", "--quiet", "--host", self.directory], check=False
        ).returncode:
            assert self.process.poll() is None and time.monotonic() < end, (self.directory / "log").read_text()
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT undoes what is under way, SIGQUIT crashes it."""
        if self.process is None:
            return
        self.process.send_signal(how)
        self.process.wait(STOP_SECONDS)
        self.process = None

    def stand_still(self) -> None:
        """Stop every process of it in its tracks: connections stay, nothing is answered."""
        self._signal_all(signal.SIGSTOP)

    def go_on(self) -> None:
        """End that."""
        self._signal_all(signal.SIGCONT)

    def processes(self) -> list[int]:
        """Return the ids of the server's processes, the first of them the one that starts the others."""
        assert self.process is not None
        mother = self.process.pid
        children = Path(f"/proc/{mother}/task/{mother}/children").read_text().split()
        return [mother, *map(int, children)]

    def _signal_all(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)  # first, so that it starts no other meanwhile
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def url(self, schema: str = "", **parameters: str) -> str:
        """Return the URL of the database, with `schema` as the place of tables."""
        words = {"host": str(self.directory), "user": "postgres", **parameters}
        if schema:
            words["options"] = f"-csearch_path%3D{schema}"
        return "postgresql:///postgres?" + "&".join(f"{name}={value}" for name, value in words.items())

    def fresh(self, **parameters: str) -> str:
        """Return the URL of a new, empty schema."""
        name = f"t{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.url()) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return self.url(name, **parameters)

    def standby(self) -> "PostgresServer":
        """Return a second server that follows this one, started: what this one commits from now on is there too."""
        made = PostgresServer(self._programs, copied_from=self)
        made.start()
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
        return made

    def promote(self) -> None:
        """Make a standby the one that is written to."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
            connection.execute("SELECT pg_promote()")

    def remove(self) -> None:
        """Stop it and leave nothing behind."""
        self.stop()
        shutil.rmtree(self.directory)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.directory,
            timeout=START_SECONDS,
            **self._as,
        )


@functools.cache
def shared_server() -> PostgresServer:
    """Return this process's one server, started when first asked for and stopped at the process's end.

    Where PostgreSQL is not installed the test is skipped, or fails if MEMSYNCD_REQUIRE_POSTGRES=1 (`.ci/run` sets it).
    """
    server = PostgresServer(installed())
    atexit.register(server.remove)
    server.start()
    return server


def installed() -> Path:
    """Return where PostgreSQL's programs are; skip or fail where there are none."""
    place = programs()
    if place is not None:
        return place
    why = "PostgreSQL is not installed here (Debian: apt-get install postgresql)"
    if os.environ.get("MEMSYNCD_REQUIRE_POSTGRES") == "1":
        pytest.fail(why)
    pytest.skip(why)
