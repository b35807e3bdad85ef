"""Questions: any words looked for in the embedded platform's index and the notes', and any words made memories of."""

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from daemon.recalling.question import NotAQuestion, question_from
from daemon.searching.request import SearchRefused, parsed
from daemon.searching.search import query_of
from memsyncd.evidence.event import Scope
from memsyncd.notes import arguments
from memsyncd.notes.errors import NoteRefused
from memsyncd.notes.limits import DEFAULT_RESULTS
from memsyncd.notes.store import NoteStore
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Message, Rejected
from memsyncd.recall.context import HEADED, context
from memsyncd.scope.resolve import ScopeResolver
from tests.clocks import HandClock
from tests.fuzz import planted, seeds
from tests.fuzz.target import Target, TryOne
from tests.memsyncd.hooks import payloads
from tests.memsyncd.platforms.grounds import BATCH

MEMORIES = (
    "We use pnpm as package manager for the web client.",
    "The staging database listens on port 6543.",
    "Never push to main without running `make test`.",
    "Wir nutzen Python 3.12; die Datenbank heißt orders_v2.",
    "データベースは PostgreSQL 16 です。",
)
STORED, ASKED = 16, 4
"""One input in so many is made memories of, and one in so many looked for in the notes."""

MOST_BYTES = 8 << 20
"""Of a store, which is then begun anew, so that it does not grow with the run."""


class _Asker:
    def __init__(self, place: Path) -> None:
        self.path = place / "memory.sqlite3"
        self.resolve = ScopeResolver(place, {}).resolve
        self.begin()

    def begin(self) -> None:
        clock = HandClock().clock()
        self.platform = LocalPlatform(self.path, clock)
        self.notes = NoteStore(self.path, clock)
        for number, text in enumerate(MEMORIES):
            self._store(f"first-{number}", text)
            self.notes.remember("default", f"note {number}", text)

    def close(self) -> None:
        self.platform.close()
        self.notes.close()
        for path in self.path.parent.glob("memory.sqlite3*"):
            path.unlink()

    def try_one(self, content: bytes) -> None:
        content = planted.into(content)
        text = content.decode("utf-8", "replace")
        if zlib.crc32(content) % STORED == 0:
            if self.path.stat().st_size > MOST_BYTES:
                self.close()
                self.begin()
            self._store(f"{zlib.crc32(content):x}", text)
        self._search({"query": text[:10_000], "cwd": "/w/shop"})
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict):
            self._search(document)
        try:
            question = question_from(content)
            planted.assert_absent(question.prompt)
        except NotAQuestion as error:
            planted.assert_absent(str(error))
        if zlib.crc32(content) % ASKED:
            return
        try:
            self.notes.search(arguments.query(text), None, DEFAULT_RESULTS)
        except NoteRefused as error:
            planted.assert_absent(str(error))

    def _store(self, name: str, text: str) -> None:
        metadata = {**BATCH.metadata, "memsyncd_packet": name}
        batch = replace(BATCH, packet_id=name, metadata=metadata, messages=[Message("user", text), *BATCH.messages[1:]])
        try:
            event_id = self.platform.add(batch).event_id
        except Rejected:
            return
        extraction = self.platform.extraction(event_id)
        assert not extraction.error, extraction.error

    def _search(self, document: dict[str, object]) -> None:
        try:
            request = parsed(document)
        except SearchRefused:
            return  # in words that are the asker's own
        scope: Scope = self.resolve(request.cwd)
        for query in (query_of(request, scope, "ada"), replace(query_of(request, scope, "ada"), app_id="shop")):
            try:
                found = self.platform.search(query)
            except Rejected:
                continue
            planted.assert_absent(context(found, frame=HEADED).text)


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    with closing(_Asker(Path(os.path.realpath(place)))) as asker:
        yield asker.try_one


def inputs() -> Iterator[bytes]:
    """Yield sentences, questions as the socket takes them, and prompts' handoffs."""
    for text in MEMORIES:
        yield text.encode()
        yield seeds.line({"query": text, "cwd": "/w/shop", "top_k": 3, "scope": "repo", "category": "workflows"})
    yield b'"exact phrase" AND NEAR(pnpm client) OR col:x* NOT (a) ^b "unfinished'
    yield b"which port - port? 6543; DROP TABLE memories; -- \"'' {a b}: * ^ + column : NEAR/3"
    yield seeds.line({"query": "x", "scope": "dir", "run_id": "s-1", "cwd": "/w/shop/a"})
    for recorded in payloads.recorded():
        if "rompt" in recorded.event:
            yield seeds.line({"harness": recorded.harness, "hook_input": seeds.with_secret(recorded.hook_input)})


WORDS = (
    *b"AND OR NOT NEAR( ) * ^ : + - {a b} query cwd top_k scope category run_id repo dir mine harness".split(),
    *b"hook_input prompt user-prompt agent_id pnpm port 6543 always never wir nutzen <private> </private>".split(),
    *(word.encode() for word in ("データ", "ß", "İ", "\ufb01", "\u200d\u0301", "\u00ad", "\U0001d518", '"', "`")),
)
TARGET = Target("questions", opened, inputs, WORDS)
