"""What of a conversation may be kept."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.lifecycle.capture import prepare_conversation, prepare_user_text, without_own_context
from memsyncd.platforms.platform import Memory, Message
from memsyncd.recall.context import HEADED, HEADING, TAG, context, tagged
from memsyncd.redaction import REPLACEMENT
from memsyncd.redaction.private_spans import without_private

SECRET = "sk-" + "Zq7" * 6
MEMORIES = [Memory("m1", "Use pnpm"), Memory("m2", "Tests run with make")]
OURS = context(MEMORIES, frame=tagged()).text
OURS_IN_OTHER_WORDS = context(MEMORIES, frame=tagged("My own heading")).text
HEADED_ONES = context(MEMORIES, frame=HEADED).text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  words \n", "words"),
        (f"key {SECRET} here", f"key {REPLACEMENT} here"),
        ("a <private>b</private> c", "a   c"),
        ("<system-reminder>a</system-reminder>\nwords", "words"),
        ("<command-name>/go</command-name>", ""),
        ("", ""),
        ("\ud83d\ude00 \ud83d", "😀 \ufffd"),
        (None, ""),
        (7, ""),
        ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "input_text", "text": "b"}, 3, "c"], "a\nb\nc"),
        ([{"type": "text", "text": "a <private>b"}, {"type": "text", "text": "c</private> d"}], "a   d"),
    ],
)
def test_a_prompt_as_it_may_be_kept(text: object, kept: str) -> None:
    """A person's words: without secrets, private spans and the harness's own elements."""
    assert prepare_user_text(text) == kept


def test_long_texts_are_not_cut() -> None:
    """Facts 18.13 and 20.25."""
    assert prepare_user_text("word " * 20_000) == ("word " * 20_000).strip()


def test_only_what_was_said_is_kept() -> None:
    """Facts 18.12: user and assistant, text blocks joined, other blocks and empty messages dropped."""
    conversation = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": f"it is {SECRET}"}]},
        {"role": "tool", "content": "out"},
        {"role": "assistant", "content": [{"type": "tool_use", "input": {}}]},
        {"role": "user", "content": "  "},
        {"content": "nobody"},
        {"role": 3, "content": "nobody"},
        Message("assistant", "<system-reminder> stays in what an assistant says"),
    ]  # fmt: skip
    assert prepare_conversation(conversation) == [
        Message("user", "one\ntwo"),
        Message("assistant", f"it is {REPLACEMENT}"),
        Message("assistant", "<system-reminder> stays in what an assistant says"),
    ]


def test_what_is_no_message_is_passed_over() -> None:
    """A transcript's line may be anything; those beside it are kept."""
    odd: list[Any] = [
        None,
        5,
        "user",
        {"role": "user"},
        {"role": "user", "content": [None, 5, {"type": "text"}, {"type": [], "text": "x"}]},
    ]
    assert prepare_conversation([*odd, {"role": "user", "content": "said"}]) == [Message("user", "said")]


def test_json_with_a_password_is_redacted() -> None:
    """Facts 18.9 (d) and 6.33: the TypeScript side left quoted keys, and the tail behind a quote."""
    assert json.loads(prepare_user_text('{"password": "v1-hidden"}')) == {"password": REPLACEMENT}
    assert "zz9" not in prepare_user_text('password=a1b2c3"zz9zz9zz9')


@pytest.mark.parametrize("ours", [OURS, OURS_IN_OTHER_WORDS, HEADED_ONES])
@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("{}", ""),
        ("{}\n\nmy words", "my words"),
        ("my words\n\n{}", "my words"),
        ("before\n{}\nbehind", "before\n\nbehind"),
        ("<system-reminder>\n{}\n</system-reminder>\nmy words", "my words"),
        ("{}\n{}\nmy words", "my words"),
    ],
)
def test_what_we_injected_is_never_captured(ours: str, prompt: str, words: str) -> None:
    """Never-again 121: wherever it stands, in a prompt or in an answer."""
    text = prompt.replace("{}", ours)
    kept = "\n".join(filter(str.strip, prepare_user_text(text).split("\n")))
    assert kept == words.replace("\n\n", "\n")
    assert "pnpm" not in str(prepare_conversation([{"role": "assistant", "content": text}]))


@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_line_breaks_of_another_system_do_not_hide_it(break_: str) -> None:
    """A host may have turned them."""
    assert prepare_user_text(OURS.replace("\n", break_) + break_ + "words") == "words"


def test_a_context_cut_off_takes_only_its_own_lines() -> None:
    """A host's own limit may have taken the end away, and a whole one may follow."""
    cut = OURS[: OURS.index("make")]
    assert prepare_user_text(cut) == ""
    assert prepare_user_text(f"{cut}\nmy words") == "my words"
    assert prepare_user_text(f"{cut}\nmy words\n{OURS}\nmore") == "my words\n\n\nmore"


def test_words_joined_to_a_context_stay() -> None:
    """A host may put it right behind the prompt."""
    assert prepare_user_text(f"before{OURS}behind") == "before\nbehind"


@pytest.mark.parametrize(
    "text",
    [
        f"what is <{TAG}>?",
        f"the tags <{TAG}> and </{TAG}> frame it",
        f"</{TAG}>",
        HEADING[:20],
        "1. my own list",
    ],
)
def test_a_mere_mention_stays(text: str) -> None:
    """Only what has the form of a context goes."""
    assert prepare_user_text(text) == text


def test_a_private_tag_in_a_memory_hides_nothing_of_the_prompt() -> None:
    """Our contexts go first."""
    ours = context([Memory("m", "mentions <private> tags")], frame=tagged()).text
    assert prepare_user_text(f"{ours}\nmy words") == "my words"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a", "a"),
        ("<private>x</private>", " "),
        ("a<private>x<private>y</private>z</private>b", "a b"),
        ("a<PRIVATE >x</ private>b", "a b"),
        ('a<private id="1">x</private>b', "a b"),
        ("a<private>x", "a "),
        ("a</private>b", "a</private>b"),
        ("a<private-key>b", "a<private-key>b"),
        ("<pri<private>x</private>vate>y", "<pri vate>y"),
        ("a<private>x</private>b<private>y</private>c", "a b c"),
    ],
)
def test_private_spans_leave_a_space(text: str, kept: str) -> None:
    """Nested, in any spelling; one that never ends takes the rest."""
    assert without_private(text) == kept


PIECES = [
    "a",
    " ",
    "\n",
    "<private>",
    "</private>",
    "<pri",
    "vate>",
    f"<{TAG}>",
    f"</{TAG}>",
    HEADING,
    "1. x",
    "<",
    "/",
    "zz",
]


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30))
@settings(deadline=None)
def test_nothing_private_stays_however_it_is_mixed(pieces: list[str]) -> None:
    """Once is enough, and what stood within a span is gone."""
    text = "".join(pieces)
    once = without_private(text)
    assert without_private(once) == once
    assert "<private>" not in once
    marked = without_private(f"{text}<private>hidden</private>")
    assert "hidden" not in marked


@given(before=st.text(max_size=20), behind=st.text(max_size=20), ours=st.sampled_from([OURS, OURS_IN_OTHER_WORDS]))
@settings(deadline=None)
def test_a_context_amid_any_text_goes_and_the_text_stays(before: str, behind: str, ours: str) -> None:
    """It is put together and taken out again."""
    assert without_own_context(f"{before}{ours}{behind}") == f"{before}\n{behind}"


def test_many_contexts_take_no_time() -> None:
    """Openings without end, and closings without beginning, are looked through once."""
    assert prepare_user_text(f"<{TAG}>\n" * 50_000 + "x") in {"", "x"}
    assert without_own_context(f"<{TAG}>\n" * 20_000 + f"\n</{TAG}>" * 20_000).count("<") <= 20_000
    assert without_private("<private>" * 100_000).strip() == ""
