"""What of a conversation may be kept: a person's and an agent's own words, without what is private or came from us.

In this order: our own contexts go (what was recalled is never captured again), `<private>` spans go, the harness's own
elements at a prompt's head go, and secrets are replaced. Nothing is cut (facts 18.13), and what is kept is fit for
UTF-8. Pure; raises for no text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from memsyncd.hooks.prompt_noise import persons_words
from memsyncd.platforms.platform import Message
from memsyncd.recall.context import HEADING, TAG
from memsyncd.recall.cutting import repaired
from memsyncd.redaction import redact
from memsyncd.redaction.private_spans import without_private

_ROLES = frozenset({"user", "assistant"})
_TEXT_BLOCKS = ("text", "input_text", "output_text")
"""Types of content blocks that hold words, as the usual chat interfaces name them; a block's own may be any JSON."""

_OPENING = re.compile(rf"<{TAG}>[ \t]*\r?\n")
_CLOSING = re.compile(rf"\n[ \t]*</{TAG}>")
_LINES = re.compile(r"(?:\d+\. [^\n]*(?:\n|\Z))*")
_HEADED = re.compile(rf"^{re.escape(HEADING)}[ \t]*\r?(?:\n|\Z){_LINES.pattern}", re.MULTILINE)


def prepare_user_text(content: object) -> str:
    """Return a person's words in a prompt, fit to be kept or searched for; "" where there are none.

    `content` is a text, or content blocks as chat interfaces have them.
    """
    return redact(persons_words(_own_words(content))[0]).strip()


def prepare_conversation(messages: Iterable[Message | Mapping[str, object]]) -> list[Message]:
    """Return the user's and the assistant's messages with words in them, in order (facts 18.12).

    Text blocks are joined by line breaks; other roles, other blocks, messages without words and what is no message are
    left out.
    """
    prepared: list[Message] = []
    for message in messages:
        role, content = _parts(message)
        if role not in _ROLES:
            continue
        text = prepare_user_text(content) if role == "user" else redact(_own_words(content)).strip()
        if text:
            prepared.append(Message(role, text))
    return prepared


def without_own_context(text: str) -> str:
    """Return `text` without contexts of ours: TAG's elements, and lines under our heading.

    An element whose end was cut away takes its heading and numbered lines with it, and no more. A mere mention of TAG
    stays.
    """
    if TAG in text:
        text = "\n".join(_outside_elements(text))
    return _HEADED.sub("", text) if HEADING in text else text


def _own_words(content: object) -> str:
    return without_private(without_own_context(repaired("\n".join(_texts(content)))))


def _outside_elements(text: str) -> Iterator[str]:
    position = 0
    openings = list(_OPENING.finditer(text))
    ends = [*(opening.start() for opening in openings), len(text)][1:]
    for opening, end in zip(openings, ends, strict=True):
        yield text[position : opening.start()]
        closing = _CLOSING.search(text, opening.end() - 1, end)
        position = closing.end() if closing else _end_of_lines(text, opening.end(), end)
    yield text[position:]


def _end_of_lines(text: str, position: int, end: int) -> int:
    """Return where the heading at `position` and the numbered lines under it end, at the latest at `end`."""
    after_heading = text.find("\n", position, end) + 1
    lines = _LINES.match(text, after_heading or end, end)
    return lines.end() if lines else end


def _parts(message: object) -> tuple[str, object]:
    if isinstance(message, Message):
        return message.role, message.content
    if not isinstance(message, Mapping):  # a transcript's line is not always what it should be
        return "", None
    role = message.get("role")
    return role if isinstance(role, str) else "", message.get("content")


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | tuple):
        for block in content:
            text = block.get("text") if isinstance(block, Mapping) and block.get("type") in _TEXT_BLOCKS else block
            if isinstance(text, str):
                yield text
