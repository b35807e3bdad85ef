"""The dialogue of a packet, as it is posted: prompts and answers in full, and the evidence block (facts 2.33, 4.9)."""

from collections.abc import Callable, Iterable, Sequence

from memsyncd.evidence.event import Event
from memsyncd.evidence.payloads import clean
from memsyncd.lifecycle.capture import without_own_context
from memsyncd.packets import spoken
from memsyncd.packets.evidence_block import EvidenceBlock
from memsyncd.platforms.platform import Message
from memsyncd.redaction.private_spans import without_private


def messages(events: Iterable[Event], *, root: str, redact: Callable[[str], str]) -> Sequence[Message]:
    """Return the messages of a packet's `events`, read once; the same events give the same messages.

    `root` is the working tree that paths are told relative to. Every text is redacted once more and cleaned of
    half characters, of `<private>` spans and of contexts we gave: a plugin's evidence has them still. What is left
    without words is not said. Nothing else of the evidence is posted: no subagent's last words, no list of files read.
    """

    def fit(text: str) -> str:
        return redact(without_private(without_own_context(clean(text))))

    block = EvidenceBlock(root)
    said = _dialogue(events, fit, block)
    text = block.text(fit)
    return _with_block(said, text) if text else said


def _dialogue(events: Iterable[Event], fit: Callable[[str], str], block: EvidenceBlock) -> list[Message]:
    """Return what was said, and show every event to the `block` as it passes: most are tools', and not kept."""
    said: list[Message] = []
    prompts: list[Message] = []
    for event in events:
        block.add(event)
        if event.kind == spoken.PROMPT and (words := spoken.text(event)):
            prompts.append(Message("user", fit(words)))
        elif event.kind == spoken.ANSWER:
            said += _exchange(prompts, event, fit)
            prompts = []
    return [message for message in said + prompts if message.content.strip()]


def _exchange(prompts: Sequence[Message], event: Event, fit: Callable[[str], str]) -> list[Message]:
    """Return an answer with the prompts before it. A prompt that its transcript repeats is not said twice, one that
    the transcript lacks goes before it (facts 4.10)."""
    transcript = [Message(message.role, fit(message.content)) for message in spoken.transcript(event)]
    told = {message.content.strip() for message in transcript if message.role == "user"}
    exchange = [*(prompt for prompt in prompts if prompt.content.strip() not in told), *transcript]
    answer = spoken.text(event)
    if answer and not any(message.role == "assistant" for message in transcript):
        exchange.append(Message("assistant", fit(answer)))
    return exchange


def _with_block(said: Sequence[Message], block: str) -> Sequence[Message]:
    last = next((at for at in reversed(range(len(said))) if said[at].role == "assistant"), None)
    if last is None:
        return [*said, Message("assistant", block)]
    answer = Message("assistant", f"{said[last].content}\n\n{block}")
    return [*said[:last], answer, *said[last + 1 :]]
