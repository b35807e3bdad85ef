"""A program that changes its home by every door, also by some that are not watched."""

import io
import os
import socket
import sqlite3
from collections.abc import Sequence
from pathlib import Path


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
