"""From exchanges to the records of them, in the words the evidence store keeps. Pure."""

from collections.abc import Callable, Sequence

from memsyncd.clock import rfc3339
from memsyncd.hooks.record import Record
from memsyncd.transcripts.turn import ASSISTANT, Exchange, Turn


def records(
    exchange: Exchange, *, session_id: str, cwd: str, fit: Callable[[str], str], with_prompts: bool
) -> Sequence[Record]:
    """Return an exchange's answer and, `with_prompts`, its prompts before it; `fit` leaves out what is not recorded.

    An exchange without an answer gives its prompts alone. What the model said on its way goes with the answer as
    `transcript_messages` (facts 10.4, 10.13).
    """
    name = f"{exchange.key}@{exchange.start}"
    found: list[Record] = []
    if with_prompts:
        for number, turn in enumerate(exchange.prompts):
            if (prompt := fit(turn.text)).strip():
                told = {"prompt": prompt}
                found.append(Record("user_prompt", session_id, told, cwd, f"{name}:{number}", captured_at=_at(turn)))
    answer = exchange.answer
    if answer is None or not (text := fit(answer.text)).strip():
        return found
    said = [words for turn in exchange.replies if (words := fit(turn.text)).strip()]
    payload: dict[str, object] = {"text": text}
    if len(said) > 1:
        payload["transcript_messages"] = [{"role": ASSISTANT, "content": each} for each in said]
    return [*found, Record("assistant_stop", session_id, payload, cwd, name, captured_at=_at(answer))]


def _at(turn: Turn) -> str:
    return "" if turn.at is None else rfc3339(turn.at)
