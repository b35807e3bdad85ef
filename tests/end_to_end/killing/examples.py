"""Programs to try the killing on: one that changes its home by every door, one that loses what it moves."""

import io
import os
import socket
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.scenario import Case, Scenario


def change_everything(arguments: Sequence[str]) -> int:
    """Write, sync, rename, link, commit and ask."""
    home = Path(os.environ["HOME"], "m")
    home.mkdir()
    with (home / "daemon.lock").open("w") as file:
        os.fsync(file.fileno())
    (home / "daemon.lock").rename(home / "nudge")
    with io.FileIO(home / "forgotten.json", "w"):
        pass
    os.symlink(home / "nudge", home / "unheard.of")
    with sqlite3.connect(home / "queue.sqlite3") as connection:
        connection.execute("CREATE TABLE jobs(id)")
        connection.execute("INSERT INTO jobs VALUES (1)")
        connection.execute("SELECT * FROM jobs")
    connection.close()
    with socket.create_connection(("127.0.0.1", int(arguments[0]))) as talk:
        talk.send(b"GET /v1/event/abc12345/?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        talk.recv(100)
    return 0


def move_carelessly(arguments: Sequence[str]) -> int:
    """Remove what is told before it is written down elsewhere."""
    told = Path(os.environ["HOME"], "m", "told")
    if told.exists():
        text = told.read_text()
        told.unlink()
        told.with_name("kept").write_text(text)
    return 0


class Careless(Scenario):
    """Killed in between, it has lost what was told."""

    name = "something moved carelessly"
    program = recovery_program = f"{__name__}:move_carelessly"

    def seed(self, home: Home) -> None:
        home.places.data.mkdir()
        (home.places.data / "told").write_text("all of it")

    def assert_none_is_lost(self, case: Case) -> None:
        kept = case.home.places.data / "kept"
        assert kept.exists()
        assert kept.read_text()
