"""Memories and notes written out, and brought in."""

import json
import os
from collections.abc import Sequence
from typing import Any

from daemon.__main__ import main
from memsyncd.clock import Clock
from memsyncd.notes.store import NoteStore
from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.scenario import ONCE, Case, Scenario

FILE = "backup/export.jsonl"
NOTES = {f"note{number}": f"The shop has {number} doors." for number in range(20)}


def in_the_home(arguments: Sequence[str]) -> int:
    """Run a command in the user's home, where the file is."""
    os.chdir(os.environ["HOME"])
    return main(arguments)


def learn(home: Home) -> None:
    """Let there be a memory, and notes."""
    home.exchange("s1", 1, prompt="We decided that the zanzibar bucket holds the invoices of this shop.")
    home.end("s1")
    assert home.run(*ONCE).returncode == 0
    notes = NoteStore(home.places.memory_file, Clock())
    for key, text in NOTES.items():
        notes.remember("shop", key, text)
    notes.close()


def lines(case: Case) -> list[Any]:
    return [json.loads(line) for line in (case.home.root / FILE).read_text().splitlines()]


class Exporting(Scenario):
    """The file is the old one or the new one, whole."""

    name = "an export"
    program = recovery_program = f"{__name__}:in_the_home"
    arguments = ("export", "--to", FILE)
    recovery = (arguments,)

    def seed(self, home: Home) -> None:
        learn(home)
        (home.root / FILE).parent.mkdir()
        (home.root / FILE).write_text('{"old": true}\n')

    def meanwhile(self, case: Case) -> None:
        found = lines(case)
        assert found == [{"old": True}] or len(found) == 2 + len(NOTES), found

    def assert_none_is_lost(self, case: Case) -> None:
        assert len(lines(case)) == 2 + len(NOTES)


class Importing(Scenario):
    """Again brings what is missing, and nothing twice."""

    name = "an import"
    program = recovery_program = f"{__name__}:in_the_home"
    codes = (0, 1)  # one line of it cannot be read
    arguments = ("import", FILE)
    recovery = (arguments,)

    def seed(self, home: Home) -> None:
        learn(home)
        (home.root / FILE).parent.mkdir()
        assert home.run("export", "--to", FILE, cwd=home.root).returncode == 0
        with (home.root / FILE).open("a") as more:
            more.write("not json\n")
        for path in home.places.data.glob("memory.sqlite3*"):
            path.unlink()

    def assert_none_is_lost(self, case: Case) -> None:
        notes = NoteStore(case.home.places.memory_file, Clock())
        try:
            kept = {key: notes.recall("shop", key) for key in NOTES}
        finally:
            notes.close()
        assert all(NOTES[key] in str(value) for key, value in kept.items()), kept
