"""Export and import: what was written out comes in again, once, without what was forgotten."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from memsyncd.clock import Clock
from memsyncd.notes.store import NoteStore
from tests.end_to_end.conftest import Home

QUESTION = "Where are the invoices of this shop?"


def command(home: Home, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = home.run(*arguments, "--json")
    assert done.returncode == code, done.stderr + done.stdout
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def learn(home: Home) -> None:
    home.exchange("s1", 1, prompt="We decided that the zanzibar bucket holds the invoices of this shop.", answer="Ok.")
    home.end("s1")
    home.until(lambda: found(home), "it was not learned")
    notes = NoteStore(home.places.memory_file, Clock())
    notes.remember("shop", "owner", "Ada runs the shop.")
    notes.close()


def found(home: Home) -> list[Any]:
    return list(home.client.post("/search", {"query": QUESTION, "cwd": str(home.project)})["memories"])


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_what_is_exported_comes_in_again_elsewhere_and_only_once(home: Home) -> None:
    """Memories are found by search afterwards; a bad line is named, kept aside and costs no other."""
    home.start()
    learn(home)
    file = home.root / "export.jsonl"
    counts = command(home, "export", "--to", str(file))
    assert (counts["memories"], counts["notes"]) == (1, 1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    header, *others = rows(file)
    assert header["type"] == "memsyncd-export" and {row["type"] for row in others} == {"memory", "note"}

    home.stop()
    home.places.memory_file.rename(home.root / "old.sqlite3")
    with file.open("a") as more:
        more.write('{"type": "memory", "memory": 7}\nnot json\n')
    home.start()
    answer = command(home, "import", str(file), code=1)
    assert answer["memories"] == {"brought": 1} and answer["notes"] == {"brought": 1}
    assert [each["line"] for each in answer["not_read"]] == [4, 5]
    assert list(Path(answer["kept_in"]).iterdir())
    assert found(home)[0]["memory"] == next(row["memory"] for row in others if row["type"] == "memory")
    again = command(home, "import", str(file), code=1)
    assert again["memories"] == {"unchanged": 1} and again["notes"] == {"unchanged": 1}


def test_what_was_forgotten_does_not_come_in_by_an_import(home: Home) -> None:
    """Neither a memory that was deleted by its id nor one of a project that was forgotten; it is said."""
    home.start()
    learn(home)
    file = home.root / "export.jsonl"
    command(home, "export", "--to", str(file))
    command(home, "forget", "--yes", "--memory", found(home)[0]["id"])
    assert command(home, "import", str(file))["memories"] == {"forgotten": 1}
    command(home, "forget", "--yes", "--cwd", str(home.project))
    assert command(home, "import", str(file))["memories"] == {"forgotten": 1}
    assert found(home) == []


def test_an_export_lists_the_platforms_memories_by_owner(hosted: Home) -> None:
    """Page by page as the platform gives them; a platform that is away leaves no file."""
    assert hosted.api is not None
    hosted.start()
    for number in range(3):
        hosted.exchange("s", number, prompt=f"We decided that bucket {number} holds the invoices.")
    hosted.end("s")
    hosted.until(lambda: len(hosted.api.memories()) == 3, "nothing was delivered")  # type: ignore[union-attr]
    file = hosted.root / "export.jsonl"
    assert command(hosted, "export", "--to", str(file))["memories"] == 3
    assert {row["user_id"] for row in rows(file)[1:]} == {"ada"}
    file.unlink()
    hosted.api.refuse_connections()
    assert hosted.run("export", "--to", str(file)).returncode == 1
    assert not list(hosted.root.glob("*export*"))


@pytest.mark.parametrize("named_by", ["", "variable", "file"])
def test_the_old_servers_notes_come_over(home: Home, named_by: str) -> None:
    """From `~/.agent-memory`, where no other place is named in the environment or the settings."""
    old = home.root / ("elsewhere" if named_by else ".agent-memory")
    old.mkdir()
    if named_by == "variable":
        home.environ["AGENT_MEMORY_PATH"] = "~/elsewhere"
    elif named_by == "file":
        home.places.config_file.parent.mkdir(parents=True)
        home.places.config_file.write_text('agent_memory_path = "~/elsewhere"\n')
    entry = {"key": "k", "value": "v", "namespace": "default", "created_at": "2026-01-01T00:00:00Z"}
    (old / "default.json").write_text(json.dumps([entry]))
    answer = command(home, "import", code=0)
    assert sum(answer["notes"].values()) == 1, answer
