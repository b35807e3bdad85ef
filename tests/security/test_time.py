"""No text that somebody else has written takes longer to look at than its length, wherever a text is looked at."""

import json
import time
from collections.abc import Callable

import pytest

from memsyncd.hooks import bounding, patch, tool_payload
from memsyncd.hooks.prompt_noise import TAGS, persons_words
from memsyncd.lifecycle.capture import prepare_user_text, without_own_context
from memsyncd.platforms.local import evidence_block
from memsyncd.platforms.local.candidates import memories_from
from memsyncd.platforms.local.terms import terms_of_question
from memsyncd.platforms.platform import Message
from memsyncd.platforms.refusals import refusal
from memsyncd.recall.context import HEADING, TAG, words
from memsyncd.redaction import redact
from memsyncd.redaction.private_spans import without_private
from memsyncd.scope import config, remote
from memsyncd.transcripts.reader import Reader
from memsyncd.transcripts.sources import SOURCES

pytestmark = pytest.mark.no_cover  # tracing would be measured too

SMALL, LARGE = 8_000, 32_000
QUICK_SECONDS = 0.04
MOST_TIMES = 9.0
"""Four times the text may take four times as long; sixteen times as long is a square."""

TRIES = 4
"""A square is one in each; a neighbour that has the processor's caches is not."""


def _tool(text: str) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": text}, "tool_response": {"stdout": text, "filePath": text}}
    tool_payload.capture(call, failed=None, directory="/a", redact=bounding.unredacted)
    tool_payload.capture(
        {**call, "tool_input": {"command": f"{patch.BEGIN}\n{text}"}}, failed=True, directory="/a", redact=redact
    )


def _transcript(text: str) -> None:
    line = json.dumps({"type": "user", "role": "user", "message": {"role": "user", "content": text}, "content": text})
    for source in SOURCES.values():
        Reader(source.steps_of).feed(line.encode() + b"\n")


LOOKS: dict[str, Callable[[str], object]] = {
    "redaction": redact,
    "private spans": without_private,
    "contexts of ours": without_own_context,
    "a prompt": prepare_user_text,
    "a harness's own words": persons_words,
    "a tool's use": _tool,
    "a transcript": _transcript,
    "a memory": words,
    "a question": terms_of_question,
    "the rules": lambda text: memories_from([Message("user", text), Message("assistant", text)], {}),
    "an evidence block": evidence_block.split,
    "git's configuration": config.parse,
    "a remote's address": remote.normalise_remote,
    "a platform's refusal": lambda text: refusal(429, {}, json.dumps({"error": text}).encode(), now=0.0, redact=redact),
}

UNITS = [
    ("", " "), ("", "\n"), ("", "\t"), ("", " \n"), ("", "a"), ("", "1"), ("", "-"), ("", "."), ("", "\\"), ("", '"'), ("", "<"), ("", "["), ("", "a."), ("", "é"), ("", "\u0301"), ("", "\u06ea\u05c4"),
    ("<", " "), ("<", "\n"), ("</", " "), ("", "< "), ("", "<private"), ("", "<private>"), ("", "</private>"), ("<private", " "), ("<private", " a"),
    ("n", ":auth"), ("", ":auth"), ("", "pwd=/"), ("", "pass:"), ("", "auth="), ("", "auth=A1"), ("", "auth='"), ("", "token=a."), ("", "password=a("), ("sk_", "pass:"), ("-----BEGIN PRIVATE KEY-----", "a"), ("", "-----BEGIN "),
    *(("", f"<{name}>") for name in (*TAGS[:3], TAG, "user_query", "USER_REQUEST", "a-b")), ("", "<a-b"), ("<a-b ", "a"), ("", "<!-- attach"), ("<!--", " "), ("", "-->"),
    ("", HEADING), ("", f"{HEADING}\n"), ("", f"{HEADING}\n1. a\n"), (f"{HEADING}\n", "1. a\n"), (HEADING, "\\n1. a"), ("", f"<{TAG}>\n"), (f"<{TAG}>\n", "\n"), ("", f"\n</{TAG}>"),
    ("", "**a"), ("", "__"),
    ("", "# a\n__"),
    ("", "__a "),
    ("", "**a "), ("", "[a]("), ("[", "a"), ("", "`"), ("", "```\n"), ("", "| a "), ("", "- a\n"), ("", "# a\n"), ("# ", "a "), ("", "; A"), ("", "so, "), ("", "a, "), ("", "No. "), ("", "I'll "),
    ("", "*** Update File: a\n"), ("*** Add File: ", " "), ("", "Commands run: \n"), ("", "- [test/ok] x\n"), ("", "make a "), ("", "run "), ("", "A= "), ("", "timeout 1 "), ("", ";"), ("npm run ", " "),
    ("[include]\n", "path=c\n"), ('[a "', "\\a"), ("[a]\nb=", "\\\n"), ("https://", "a@"), ("", "a:"), ("a::", "a"), ("git@", "a:"), ("https://h/", "../"), ("", "%"),
    ("quota ", "a "), ("exceed", " a"), ("", "upgrade a "), ("", "no "),
]  # fmt: skip
"""What precedes, and what is repeated: each some pattern's own words, or the way of a mistake that was made here."""


def cost(look: Callable[[str], object], before: str, unit: str, size: int) -> float:
    """Return processor seconds, the least of two."""
    text = before + (unit * (size // len(unit) + 1))[:size]
    best = float("inf")
    for _ in range(2):
        begun = time.thread_time()
        look(text)
        best = min(best, time.thread_time() - begun)
        if best < QUICK_SECONDS:
            break
    return best


@pytest.mark.timeout(240)
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_look_at_any_text_is_linear_in_its_length(look: Callable[[str], object]) -> None:
    """For each text that a careless pattern would choke on."""
    assert [unit for unit in UNITS if all(grows_too_much(look, *unit) for _ in range(TRIES))] == []


def grows_too_much(look: Callable[[str], object], before: str, unit: str) -> bool:
    large = cost(look, before, unit, LARGE)
    return large > QUICK_SECONDS and large > MOST_TIMES * cost(look, before, unit, SMALL)
