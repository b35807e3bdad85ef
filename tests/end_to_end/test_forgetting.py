"""Forgetting, with a real daemon and without one: afterwards no byte of it is left, and no replay brings it back."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours

WORD = "zanzibarquux"


def where(root: Path, word: str) -> list[str]:
    """Return the files below `root` that hold the word."""
    found = [path for path in root.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    return [str(path.relative_to(root)) for path in found]


def tell(home: Home, session: str, *, number: int = 1, word: str = WORD) -> None:
    home.exchange(session, number, prompt=f"We decided that {word} holds the invoices of this shop.", answer="Noted.")


def search(home: Home, question: str = f"Where are the invoices, in {WORD}?") -> list[Any]:
    answer = home.client.post("/search", {"query": question, "cwd": str(home.project)})
    assert answer["succeeded"]
    return list(answer["memories"])


def forget(home: Home, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = home.run("forget", "--json", *arguments)
    assert done.returncode == code, done.stderr + done.stdout
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_a_forgotten_project_leaves_no_byte_and_does_not_come_back(home: Home, tmp_path: Path) -> None:
    """Evidence, memories, index, queue, waiting and dead handoffs: none holds the word, and a replay of the very files
    the hooks dropped brings nothing back, while what comes later is kept."""
    home.start()
    pending = home.spool() / "pending"
    home.run("pause")
    tell(home, "s1")
    assert not list(pending.glob("*.json")) if pending.exists() else True  # a paused hook drops nothing
    home.run("resume")
    home.stop()
    tell(home, "s1")
    kept = tmp_path / "kept"
    shutil.copytree(pending, kept)
    home.start()
    home.until_quiet()
    home.end("s1")
    home.until(lambda: search(home), "it was not learned")
    dead = home.spool() / "dead"
    shutil.copy(next(kept.glob("*.json")), dead / "x.json")
    (dead / "x.reason.json").write_text('{"reason": "expired"}')
    (home.spool() / "corrupt" / "y.json").write_text(f'{{"cwd": "{home.project}", "prompt": "{WORD}')
    (home.places.data / "queue.sqlite3.corrupt-7").write_text(f"{home.project} {WORD}")
    assert where(home.places.data, WORD)

    refused = home.run("forget", "--cwd", str(home.project))
    assert refused.returncode == 2 and "events" in refused.stdout
    assert search(home)

    answer = forget(home, "--yes", "--cwd", str(home.project))
    assert answer["status"] == "deleted" and answer["deleted"]["memories"] and answer["deleted"]["dead_letters"] == 1
    assert where(home.places.data, WORD) == []
    assert search(home) == []

    for path in kept.glob("*.json"):
        shutil.copy(path, pending / path.name)
    home.until(lambda: not list(pending.glob("*.json")), "the replay was not taken in")
    tell(home, "s1")  # the same turn, told by a harness anew
    home.end("s1")
    home.until_quiet()
    home.until(lambda: home.counted("events_forgotten") >= 1, "nothing was kept out")
    assert search(home) == []
    assert where(home.places.data, WORD) == []

    tell(home, "s2", word="marmaladebase")
    home.end("s2")
    home.until(lambda: search(home, "Which invoices does marmaladebase hold?"), "what came later was not kept")


def test_a_session_is_forgotten_without_a_daemon(home: Home) -> None:
    """Its bytes go from the files; another session's stay."""
    home.start()
    tell(home, "s1")
    tell(home, "s2", word="marmaladebase")
    home.end("s1")
    home.end("s2")
    home.until(lambda: search(home) and search(home, "marmaladebase invoices"), "it was not learned")
    home.stop()
    tell(home, "s1", number=2)
    answer = forget(home, "--yes", "--session", "s1")
    assert answer["status"] == "deleted" and answer["deleted"]["handoffs"] == 2
    assert where(home.places.data, WORD) == []
    assert where(home.places.data, "marmaladebase") != []


def test_the_platforms_memories_go_one_by_one_and_a_refusal_is_told(hosted: Home) -> None:
    """Listed by owner, deleted by id; one that is refused makes the answer `partial` and is tried again by a job."""
    assert hosted.api is not None
    hosted.environ["MEM0_CODE_EXTRACTION_WAIT_SECONDS"] = "3"
    hosted.start()
    for number in range(3):
        tell(hosted, "s1", number=number, word=f"{WORD}{number}")
    hosted.end("s1")
    hosted.until(lambda: len(hosted.api.memories()) == 3, "nothing was delivered")  # type: ignore[union-attr]
    hosted.until_quiet()
    hosted.api.script("delete", mem0_behaviours.reject(400))
    answer = forget(hosted, "--yes", "--cwd", str(hosted.project), "--remote", code=1)
    assert (answer["status"], answer["failed"], answer["remote"]["deleted"]) == ("partial", 1, 2)
    hosted.until(lambda: not hosted.api.memories(), "it was not tried again")  # type: ignore[union-attr]
    hosted.until(lambda: not where(hosted.places.data, WORD), "a copy is left once the job is over")


def test_what_lands_on_the_platform_after_all_is_looked_for_and_deleted(hosted: Home) -> None:
    """An extraction that was open when its session was forgotten makes its memories later; they go without --remote,
    for they were not there when it was asked for."""
    api = hosted.api
    assert api is not None
    api.extraction_seconds = 1e9
    hosted.environ["MEM0_CODE_EXTRACTION_WAIT_SECONDS"] = "20"
    hosted.start()
    tell(hosted, "s1")
    hosted.end("s1")
    hosted.until(lambda: len(api.accepted_batches()) == 1, "nothing was sent")
    assert not api.memories()
    assert forget(hosted, "--yes", "--session", "s1")["status"] == "deleted"
    api.finish_extractions()
    hosted.until(lambda: api.requests("delete"), "it was not looked for")
    hosted.until(lambda: not api.memories(), "it is there still")
    hosted.until(lambda: not where(hosted.places.data, WORD), "a copy is left once the job is over")
    assert len(api.accepted_batches()) == 1


def test_local_copies_go_also_when_the_platform_is_away(hosted: Home) -> None:
    """The answer is `partial`, and the job waits with the others for the platform's return."""
    api = hosted.api
    assert api is not None
    hosted.start()
    tell(hosted, "s1")
    hosted.end("s1")
    hosted.until(lambda: len(api.memories()) == 1, "nothing was delivered")
    hosted.until_quiet()
    api.refuse_connections()
    answer = forget(hosted, "--yes", "--session", "s1", "--remote", code=1)
    assert (answer["status"], answer["remote"]["complete"]) == ("partial", False)
    assert where(hosted.places.data, WORD) == []
    api.accept_connections()
    hosted.until(lambda: not api.memories(), "it was not deleted on its return")
