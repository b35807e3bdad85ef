"""The embedded platform as the delivery and the recall see it."""

import itertools
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memsyncd.clock import Clock
from memsyncd.platforms.local import extracting, schema, searching
from memsyncd.platforms.local import platform as platform_module
from memsyncd.platforms.local.faults import DamagedStore, platform_error
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import (
    Batch,
    Busy,
    Cancelled,
    ExtractionState,
    Found,
    Memory,
    Message,
    PlatformError,
    Query,
    Rejected,
    Unreachable,
)

CLOCK = Clock(wall=lambda: 1_800_000_000.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite3"


@pytest.fixture
def platform(path: Path) -> Iterator[LocalPlatform]:
    platform = LocalPlatform(path, CLOCK)
    yield platform
    platform.close()


def batch(
    *texts: str,
    packet: str = "p1",
    number: int = 0,
    app: str = "shop",
    user: str = "ada",
    agent: str = "team",
    run: str = "s1",
    metadata: Mapping[str, Any] | None = None,
) -> Batch:
    """Return a batch of user statements."""
    messages = [Message("user", text) for text in texts]
    own = {"memsyncd_packet": packet, "memsyncd_batch": number, **(metadata or {})}
    return Batch(packet, number, messages, user, app, agent, run, own)


def learn(platform: LocalPlatform, *texts: str, **where: Any) -> int:
    """Send a batch and carry it out; return how many memories it made."""
    event = platform.extraction(platform.add(batch(*texts, **where)).event_id)
    assert event.state is ExtractionState.SUCCEEDED
    return event.memories


def ask(platform: LocalPlatform, text: str, **more: Any) -> Sequence[str]:
    return [memory.memory for memory in found(platform, text, **more)]


def found(platform: LocalPlatform, text: str, **more: Any) -> Sequence[Memory]:
    query = {"user_id": "ada", "app_id": "shop", "agent_ids": ["team"], **more}
    return platform.search(Query(text, **query))


def test_a_batch_is_pending_until_its_extraction_is_asked_for(platform: LocalPlatform) -> None:
    """Adding stores; asking carries out; asking again changes nothing."""
    accepted = platform.add(batch("We use pnpm for the web client."))
    assert not accepted.finished
    assert ask(platform, "package manager of the web client") == []
    first = platform.extraction(accepted.event_id)
    assert (first.state, first.memories) == (ExtractionState.SUCCEEDED, 1)
    assert platform.extraction(accepted.event_id) == first
    assert ask(platform, "what does the web client use?") == ["We use pnpm for the web client."]


def test_the_same_batch_again_is_the_same_event(platform: LocalPlatform) -> None:
    """Sent twice, before or after its extraction, a batch adds nothing."""
    one = batch("We use pnpm for the web client.")
    first = platform.add(one)
    assert platform.add(one) == first
    platform.extraction(first.event_id)
    assert platform.add(one) == first
    assert platform.extraction(first.event_id).memories == 1
    assert [len(page) for page in platform.extractions()] == [1]


def test_an_unknown_event_is_missing(platform: LocalPlatform) -> None:
    """As the protocol says, no error."""
    assert platform.extraction("nothing").state is ExtractionState.MISSING


def test_events_are_listed_newest_first_in_pages(platform: LocalPlatform) -> None:
    """The listing is lazy and complete."""
    ids = [platform.add(batch("x", packet=f"p{number}")).event_id for number in range(230)]
    pages = list(platform.extractions())
    assert [len(page) for page in pages] == [100, 100, 30]
    assert [event.event_id for page in pages for event in page] == ids[::-1]


def test_listing_carries_out_what_waits(platform: LocalPlatform) -> None:
    """One pass of the listing brings the verdict on every batch, each carried out once."""
    for number in range(30):
        platform.add(batch(f"Never restart host{number} by hand.", packet=f"p{number}"))
    for _ in range(2):
        (page,) = list(platform.extractions())
        assert [(event.state, event.memories) for event in page] == [(ExtractionState.SUCCEEDED, 1)] * 30
    assert len(ask(platform, "restart by hand", top_k=100)) == 30


def test_listing_carries_out_the_oldest_first(platform: LocalPlatform) -> None:
    """Of two statements that waited together the later one counts."""
    platform.add(batch("The cache lives for 30 minutes.", packet="p1"))
    platform.add(batch("The cache lives for 45 minutes now.", packet="p2"))
    list(platform.extractions())
    assert ask(platform, "how long does the cache live?") == ["The cache lives for 45 minutes now."]


def test_a_page_carries_out_no_more_than_its_bounds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is over the number or the seconds is told as pending, and is done by the next listing."""
    ticks = itertools.count(step=platform_module.EXTRACTION_SECONDS)
    for clock, most in ((Clock(monotonic=lambda: float(next(ticks))), 500), (Clock(monotonic=lambda: 0.0), 1)):
        monkeypatch.setattr(platform_module, "EXTRACTED_PER_PAGE", most)
        platform = LocalPlatform(path, clock)
        for number in range(2):
            platform.add(batch("We use pnpm.", packet=f"{most}-{number}"))
        states = [event.state for event in next(platform.extractions())]
        assert states[:2] == [ExtractionState.PENDING, ExtractionState.SUCCEEDED]
        assert next(platform.extractions())[0].state is ExtractionState.SUCCEEDED
        platform.close()


def test_a_listing_stops_when_cancelled(platform: LocalPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop does not wait for the rest of the page; what was not carried out still waits, and is not failed."""
    for number in range(5):
        platform.add(batch("We use pnpm.", packet=f"p{number}"))
    whole, done = extracting.store, []

    def stop_after(*positional: Any, **named: Any) -> int:
        done.append(1)
        made = whole(*positional, **named)
        if len(done) == 2:
            platform.cancel()
        return made

    monkeypatch.setattr(extracting, "store", stop_after)
    with pytest.raises(Cancelled):
        next(platform.extractions())
    assert len(done) == 2


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_clean_stop_leaves_no_log(platform: LocalPlatform, path: Path, cancelled: bool) -> None:
    """The write-ahead log is folded into the file at close, after a cancel too."""
    learn(platform, "We use pnpm for the web client.")
    ask(platform, "pnpm")
    if cancelled:
        platform.cancel()
    platform.close()
    log = path.with_name(path.name + "-wal")
    assert not log.exists() or log.stat().st_size == 0
    again = LocalPlatform(path, CLOCK)
    assert ask(again, "pnpm web client") == ["We use pnpm for the web client."]
    again.close()


def test_another_reader_of_the_file_holds_no_stop_up(platform: LocalPlatform, path: Path) -> None:
    """Where somebody else reads the file the log stays, and closing ends all the same."""
    learn(platform, "We use pnpm for the web client.")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM memories").fetchone()
    learn(platform, "Never restart the heron host.", packet="p2")
    started = time.monotonic()
    platform.close()
    assert time.monotonic() - started < schema.BUSY_SECONDS - 1.0
    other.execute("COMMIT")
    other.close()


def test_a_batch_is_found_by_packet_and_number(platform: LocalPlatform) -> None:
    """For its own user and project only."""
    event_id = platform.add(batch("We use pnpm.", packet="p9", number=3)).event_id
    assert platform.find("p9", 3, user_id="ada", app_id="shop") == Found(event_id)
    assert platform.find("p9", 4, user_id="ada", app_id="shop") is None
    assert platform.find("p9", 3, user_id="bob", app_id="shop") is None


def test_the_dialogue_is_dropped_once_it_is_extracted(platform: LocalPlatform, path: Path) -> None:
    """Only memories stay: the store does not grow with what was said."""
    learn(platform, "hello there", "We use pnpm for the web client.")
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT messages FROM extraction_events").fetchall() == [(None,)]
    connection.close()


def test_exact_repeats_make_nothing_and_are_counted(platform: LocalPlatform) -> None:
    """Nothing new is a success with no memories (never-again 106)."""
    assert learn(platform, "We use pnpm for the web client.") == 1
    assert learn(platform, "We use pnpm for the web client!", packet="p2", run="s2") == 0
    (memory,) = found(platform, "web client")
    assert memory.metadata["seen"] == 2


def test_near_duplicates_become_one_memory_with_the_fuller_text(platform: LocalPlatform) -> None:
    """The same in other words is said once."""
    learn(platform, "Schema changes are applied by the ops team.")
    learn(platform, "Schema changes are always applied by the ops team on Tuesdays.", packet="p2")
    assert ask(platform, "who applies schema changes") == [
        "Schema changes are always applied by the ops team on Tuesdays."
    ]


def test_a_change_of_mind_hides_the_older_memory_but_keeps_it(platform: LocalPlatform, path: Path) -> None:
    """Search tells the newest; the older row names what overruled it."""
    learn(platform, "The API always listens on port 8080.")
    learn(platform, "From now on the API listens on port 9090.", packet="p2")
    assert ask(platform, "which port does the API use?") == ["From now on the API listens on port 9090."]
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT text FROM memories WHERE superseded_by <> ''").fetchall()
    connection.close()
    assert rows == [("The API always listens on port 8080.",)]


def test_changing_ones_mind_back_is_heard(platform: LocalPlatform) -> None:
    """An overruled memory said again is news, not a repeat."""
    for number, text in enumerate(
        ("Always use tabs for indentation.", "Always use spaces for indentation.", "Always use tabs for indentation.")
    ):
        assert learn(platform, text, packet=f"p{number}") == 1
    assert ask(platform, "indentation") == ["Always use tabs for indentation."]


def test_a_deleted_memory_stays_deleted(platform: LocalPlatform) -> None:
    """The same evidence, in the wording it was merged from too, does not bring it back (never-again 81)."""
    learn(platform, "Schema changes are applied by the ops team.")
    learn(platform, "Schema changes are always applied by the ops team on Tuesdays.", packet="p2")
    (memory,) = found(platform, "schema changes")
    assert platform.delete(memory.id)
    assert not platform.delete(memory.id)
    assert learn(platform, "Schema changes are applied by the ops team.", packet="p3") == 0
    assert learn(platform, "Schema changes are always applied by the ops team on Tuesdays.", packet="p4") == 0
    assert ask(platform, "schema changes") == []


def test_a_session_leaves_at_most_its_share(platform: LocalPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the session's bound the stronger displaces the weaker, and a displaced one is not buried."""
    monkeypatch.setattr(extracting, "MAX_PER_SESSION", 2)
    learn(platform, "We use pnpm for the web client.", "The heron host sits in `eu-north`.")
    learn(platform, "Remember that releases must never be cut on Fridays.", packet="p2")
    left = ask(platform, "pnpm web client heron host releases fridays", top_k=10)
    assert len(left) == 2
    assert "Remember that releases must never be cut on Fridays." in left
    (gone,) = {"We use pnpm for the web client.", "The heron host sits in `eu-north`."} - set(left)
    assert learn(platform, gone, packet="p3", run="s2") == 1


@pytest.mark.parametrize("filtered_by_index", [0, 10_000])
def test_lanes_and_scopes(platform: LocalPlatform, monkeypatch: pytest.MonkeyPatch, filtered_by_index: int) -> None:
    """A preference is its person's, the rest is the project's; `dir` narrows the project's, `mine` leaves it out:
    the same whether the index or the rows are filtered."""
    monkeypatch.setattr(searching, "FILTERED_BY_INDEX", filtered_by_index)
    learn(
        platform,
        "I prefer answers about the parser in German.",
        "Never call the parser twice.",
        metadata={"dirs": ["web"]},
    )
    learn(platform, "The parser must be reentrant.", packet="p2", metadata={"dirs": ["api"]})
    prefer, never, must = (
        "I prefer answers about the parser in German.",
        "Never call the parser twice.",
        "The parser must be reentrant.",
    )
    assert set(ask(platform, "parser")) == {prefer, never, must}
    assert set(ask(platform, "parser", scope="dir", directory="web")) == {prefer, never}
    assert set(ask(platform, "parser", scope="dir")) == {prefer, never, must}
    assert set(ask(platform, "parser", scope="mine")) == {prefer}
    assert set(ask(platform, "parser", user_id="bob")) == {never, must}
    assert set(ask(platform, "parser", agent_ids=["other", "team"])) == {prefer, never, must}
    assert ask(platform, "parser", app_id="other") == []


def test_a_text_that_looks_like_a_filter_opens_no_lane(platform: LocalPlatform, path: Path) -> None:
    """The index's own tokens in a text do not make it visible elsewhere."""
    learn(platform, "Never call the parser twice.")
    with sqlite3.connect(path) as connection:
        tokens = connection.execute("SELECT scope FROM memories").fetchone()[0]
    connection.close()
    learn(platform, f"Remember that the parser of {tokens.split()[0]} is secretive.", packet="p2", app="other")
    assert ask(platform, "parser") == ["Never call the parser twice."]


def test_many_memories_can_be_asked_for_at_once(platform: LocalPlatform) -> None:
    """`top_k` may be larger than what is read at once."""
    for number in range(16):
        statements = [f"Never restart the relay named relay{number}n{index} by hand." for index in range(10)]
        assert learn(platform, *statements, packet=f"p{number}", run=f"s{number}") == 10
    assert len(ask(platform, "restart relay", top_k=500)) == 160
    assert len(ask(platform, "restart relay", top_k=7)) == 7


def test_category_and_run_filters(platform: LocalPlatform) -> None:
    """Both narrow what is found."""
    learn(platform, "Never call the parser twice.", run="s1")
    learn(platform, "We use the parser of the vendor.", packet="p2", run="s2")
    assert ask(platform, "parser", category="decisions_and_constraints") == ["Never call the parser twice."]
    assert ask(platform, "parser", run_id="s2") == ["We use the parser of the vendor."]


@pytest.mark.parametrize(
    "wrong",
    [
        {"user_id": "*"},
        {"app_id": " ** "},
        {"agent_ids": ["*"]},
        {"user_id": ""},
        {"scope": "team"},
        {"category": "gossip"},
        {"run_id": "*"},
    ],
)
def test_a_search_that_would_reach_too_far_is_refused(platform: LocalPlatform, wrong: Mapping[str, Any]) -> None:
    """Wildcards and missing ids are no identity; unknown scopes and categories are an error (facts 5.27, 5.29)."""
    with pytest.raises(Rejected):
        ask(platform, "parser", **wrong)


@pytest.mark.parametrize("wrong", [{"user": "*"}, {"app": ""}, {"agent": "**"}, {"packet": ""}])
def test_a_batch_without_a_clear_owner_is_refused(platform: LocalPlatform, wrong: Mapping[str, Any]) -> None:
    """Nothing is stored under a default (never-again 161)."""
    with pytest.raises(Rejected):
        platform.add(batch("We use pnpm.", **wrong))


@pytest.mark.parametrize(
    "text", ["", "   ", "the of and", '"', "a AND b OR", "NEAR(x", "*", "x" * 10_000, "\x00", "\ud800", "col:umn", "日"]
)
def test_any_question_is_answered(platform: LocalPlatform, text: str) -> None:
    """No character of a question is taken for query syntax."""
    learn(platform, "We use pnpm for the web client.")
    assert len(ask(platform, text)) <= 1


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("Always set `maxRetries` in the job runner.", "max_retries"),
        ("The limits live in `conf/quota.toml`.", "quota"),
        ("We run on PostgreSQL 16.", "which db?"),
        ("本番環境へのデプロイは必ず水曜日に行います。", "デプロイの曜日は水曜日?"),
        ("Les montants sont toujours arrondis à l'euro.", "arrondit-on les montants ?"),
    ],
)
def test_other_spellings_words_and_scripts_find(platform: LocalPlatform, statement: str, question: str) -> None:
    """Identifiers by any spelling or part, near words of the field, scripts without spaces, other endings."""
    learn(platform, statement)
    assert ask(platform, question) == [statement]


def test_memories_carry_where_they_come_from(platform: LocalPlatform) -> None:
    """Branch, packet, session, time and files are beside each."""
    learn(platform, "We use pnpm for the web client.", metadata={"branch": "feat/x", "files_touched": ["a.py"]})
    (memory,) = found(platform, "web client")
    assert memory.created_at == "2027-01-15T08:00:00.000Z"
    assert memory.metadata["branch"] == "feat/x"
    assert memory.metadata["files"] == ["a.py"]
    assert (memory.metadata["run_id"], memory.metadata["memsyncd_packet"]) == ("s1", "p1")
    assert memory.score is not None


def test_the_file_is_private_from_the_start(platform: LocalPlatform, path: Path) -> None:
    """Store, log and index are for the owner only, whatever the umask."""
    before = os.umask(0)
    try:
        learn(platform, "We use pnpm.")
    finally:
        os.umask(before)
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}


def test_a_newer_store_is_refused_and_left_alone(path: Path) -> None:
    """The program stops with one sentence, and the file is the same byte for byte (CONTRACT: exit 78)."""
    schema.open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(schema.NewerSchema, match="newer version"):
        LocalPlatform(path, CLOCK)
    assert path.read_bytes() == before


def test_a_damaged_store_is_told_and_never_taken_for_an_empty_one(path: Path) -> None:
    """Each call says so (never-again 48); once the file is well again, so are the calls."""
    path.write_bytes(b"this is no database" * 500)
    platform = LocalPlatform(path, CLOCK)
    for call in (platform.ping, lambda: ask(platform, "x"), lambda: platform.add(batch("We use pnpm."))):
        with pytest.raises(DamagedStore):
            call()
    path.unlink()
    assert learn(platform, "We use pnpm for the web client.") == 1
    platform.close()


def test_a_page_destroyed_later_is_told(platform: LocalPlatform, path: Path) -> None:
    """Damage in the middle of the file is no empty answer either."""
    learn(platform, "We use pnpm for the web client.")
    platform.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    again = LocalPlatform(path, CLOCK)
    with pytest.raises(PlatformError):
        ask(again, "web client")
    again.close()


def test_what_takes_the_files_place_is_used_at_once(platform: LocalPlatform, path: Path) -> None:
    """A file moved aside under it gets nothing more and answers nothing more: what is learnt goes where it is found."""
    learn(platform, "We use pnpm for the web client.")
    for each in list(path.parent.iterdir()):
        each.rename(each.with_name(f"{each.name}.aside"))
    assert ask(platform, "web client") == []
    learn(platform, "We use yarn for the web client.", packet="p2")
    assert ask(platform, "web client") == ["We use yarn for the web client."]
    assert path.exists()


def test_a_disk_that_gives_nothing_is_no_damage(tmp_path: Path) -> None:
    """Nobody is told to move a sound file aside because its disk is away for a while."""
    path = tmp_path / "memory.sqlite3"
    path.symlink_to("/proc/self/mem")  # gives EIO to who reads its first byte
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    assert isinstance(platform_error(error, path), Unreachable)
    assert isinstance(platform_error(error, tmp_path / "none"), DamagedStore)


def test_a_store_locked_by_another_is_busy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locked is a deferral, and nothing was stored (never-again 43, 56)."""
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.05)
    platform = LocalPlatform(path, CLOCK)
    platform.ping()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy) as refused:
        platform.add(batch("We use pnpm."))
    assert refused.value.retry_after == 10.0  # and not the minutes that a platform elsewhere is given
    assert ask(platform, "pnpm") == []
    other.execute("ROLLBACK")
    other.close()
    assert learn(platform, "We use pnpm for the web client.") == 1
    platform.close()


def test_a_directory_that_is_not_there_is_unreachable(tmp_path: Path) -> None:
    """Nothing was sent; it is tried again."""
    platform = LocalPlatform(tmp_path / "none" / "memory.sqlite3", CLOCK)
    with pytest.raises(Unreachable):
        platform.ping()


def test_a_cancelled_platform_refuses(platform: LocalPlatform) -> None:
    """After cancel every call fails at once."""
    learn(platform, "We use pnpm.")
    platform.cancel()
    with pytest.raises(Cancelled):
        platform.ping()
    with pytest.raises(Cancelled):
        platform.add(batch("x", packet="p2"))


def test_a_fault_while_extracting_fails_that_batch_only(
    platform: LocalPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event fails with the error's kind and no text; sent again, it is tried again."""
    event_id = platform.add(batch("We use pnpm for the web client.")).event_id
    with monkeypatch.context() as patched:
        patched.setattr("memsyncd.platforms.local.platform.memories_from", lambda *_: 1 / 0)
        failed = platform.extraction(event_id)
    assert failed.state is ExtractionState.FAILED
    assert failed.error == "ZeroDivisionError while extracting"
    assert platform.add(batch("We use pnpm for the web client.")).event_id == event_id
    assert platform.extraction(event_id).memories == 1


def test_two_threads_share_the_platform(platform: LocalPlatform) -> None:
    """Adding, extracting and searching at once lose nothing and double nothing."""
    errors: list[BaseException] = []

    def work(lane: int) -> None:
        try:
            for number in range(12):
                event_id = platform.add(
                    batch(f"Never restart host{number}x{lane} by hand.", packet=f"p{number}-{lane}")
                ).event_id
                shared = platform.add(batch("We use pnpm for the web client.", packet=f"same{number}")).event_id
                platform.extraction(event_id)
                platform.extraction(shared)
                assert ask(platform, f"restart host{number}x{lane}")
        except BaseException as error:  # noqa: BLE001  (told to the test below)
            errors.append(error)

    threads = [threading.Thread(target=work, args=(lane,)) for lane in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert len(ask(platform, "restart host by hand web client pnpm", top_k=100)) == 25
    assert sum(len(page) for page in platform.extractions()) == 36


_CHILD = """
import os, signal, sys
from pathlib import Path
from memsyncd.clock import Clock
from memsyncd.platforms.local import extracting
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Batch, Message

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

platform = LocalPlatform(Path(sys.argv[1]), Clock())
messages = [Message("user", "We use pnpm for the web client."), Message("user", "Never restart the heron host.")]
event = platform.add(Batch("p1", 0, messages, "ada", "shop", "team", "s1", {}))
print(event.event_id, flush=True)
if sys.argv[2] == "inside":
    whole = extracting.store
    extracting.store = lambda *a, **k: (whole(*a, **k), die())[0]
    platform.extraction(event.event_id)
die()
"""


@pytest.mark.parametrize("moment", ["between", "inside"])
def test_a_kill_loses_nothing_and_doubles_nothing(path: Path, moment: str) -> None:
    """Killed between add and extraction, or before the extraction's commit: the batch still waits, and is done once."""
    child = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path), moment], capture_output=True, text=True, timeout=60, check=False
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    platform = LocalPlatform(path, CLOCK)
    assert ask(platform, "pnpm heron") == []
    event = platform.extraction(child.stdout.strip())
    assert (event.state, event.memories) == (ExtractionState.SUCCEEDED, 2)
    assert len(ask(platform, "pnpm heron")) == 2
    platform.close()


def test_half_characters_do_not_stop_a_batch(platform: LocalPlatform) -> None:
    """Text that no encoding can hold is stored without them; in an id they are refused (never-again 113)."""
    assert learn(platform, "We always use pnpm \ud800 for the web client \x00.") == 1
    assert len(ask(platform, "web client")) == 1
    with pytest.raises(Rejected):
        platform.add(batch("We use pnpm.", user="ad\ud800a"))
