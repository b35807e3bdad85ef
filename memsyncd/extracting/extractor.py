"""A batch's memories, made by the model piece by piece; by the rules for each piece that the model is no help with."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memsyncd.clock import Clock
from memsyncd.extracting.budget import Budget, OverBudget
from memsyncd.extracting.checking import Nonsense, checked
from memsyncd.extracting.client import MAX_ANSWER_TOKENS, Said
from memsyncd.extracting.prompt import prompt
from memsyncd.packets.batches import batches, estimate
from memsyncd.platforms.local import evidence_block
from memsyncd.platforms.local.candidate import Candidate
from memsyncd.platforms.local.candidates import MAX_PER_BATCH, memories_from
from memsyncd.platforms.platform import Batch, Cancelled, Message, Rejected

LEAST_SECONDS = 1.0
"""With less time left no call is begun."""

NONSENSE, REFUSED, OVER_BUDGET, SLOW, AWAY = "nonsense", "refused", "over_budget", "slow", "away"
"""Why the rules made a piece's memories: the answer was of no use, the server refused this request, a budget is used
up, the time is over, the endpoint does not answer."""


class Model(Protocol):
    """Who is asked; see `client.ModelClient`."""

    @property
    def destination(self) -> str:
        """The name under which it cools."""

    def ask(self, messages: Sequence[Message], seconds: float) -> Said:
        """Return its answer. Raises PlatformError."""

    def ping(self) -> None:
        """See whether it is there. Raises PlatformError."""


@dataclass(frozen=True, slots=True)
class Made:
    """A batch's candidates. `pieces_by_rules` tells for how many pieces, and why, the rules stood in; `why` is for a
    person; `rejected` counts the model's entries that were turned down. `by_model`: pieces it made."""

    candidates: Sequence[Candidate]
    by_model: int
    pieces_by_rules: Mapping[str, int]
    rejected: Mapping[str, int]
    why: str = ""


class Extractor:
    """Safe from any thread. `piece_tokens` is how much dialogue goes into one request, `call_seconds` what one may
    take; `redact` goes over each memory once more."""

    def __init__(
        self,
        model: Model,
        budget: Budget,
        clock: Clock,
        *,
        redact: Callable[[str], str],
        piece_tokens: int,
        call_seconds: float,
    ) -> None:
        self._model = model
        self._budget = budget
        self._clock = clock
        self._redact = redact
        self._piece_tokens = piece_tokens
        self._call_seconds = call_seconds

    @property
    def destination(self) -> str:
        """The name under which the endpoint cools."""
        return self._model.destination

    def ping(self) -> None:
        """See whether anybody answers. Raises PlatformError."""
        self._model.ping()

    def memories(
        self, batch: Batch, seconds: float, *, answered: Callable[[], None], stopping: threading.Event
    ) -> Made:
        """Return a batch's candidates within `seconds`, whoever made them.

        `answered` is called after each valid answer. Raises PlatformError where the endpoint, not the piece, is at
        fault, and Cancelled once `stopping` is set: then nothing of the batch was made.
        """
        end = self._clock.monotonic() + seconds
        found: list[Candidate] = []
        by_rules: Counter[str] = Counter()
        rejected: Counter[str] = Counter()
        pieces = batches(batch.messages, budget=self._piece_tokens)
        why = ""
        for piece in pieces:
            if stopping.is_set():
                raise Cancelled("the daemon is stopping")
            try:
                candidates, turned_down = self._by_model(piece, batch, end, answered)
            except _NoHelp as reason:
                candidates, turned_down = memories_from(piece, batch.metadata), {}
                by_rules[reason.kind] += 1
                why = reason.why
            found += candidates
            rejected.update(turned_down)
        by_model = len(pieces) - by_rules.total()
        kept = _best(found) if by_model else rules(batch)
        return Made(kept, by_model, by_rules, rejected, why)

    def _by_model(
        self, piece: Sequence[Message], batch: Batch, end: float, answered: Callable[[], None]
    ) -> tuple[Sequence[Candidate], Mapping[str, int]]:
        left = end - self._clock.monotonic()
        if left < LEAST_SECONDS:
            raise _NoHelp(SLOW, "it did not answer in time (extractor.wait_seconds)")
        asked = prompt(piece)
        try:
            reserved = self._budget.reserve(f"{batch.app_id}\0{batch.run_id}", estimate(asked) + MAX_ANSWER_TOKENS)
        except OverBudget as error:
            raise _NoHelp(OVER_BUDGET, str(error)) from error
        try:
            said = self._model.ask(asked, min(left, self._call_seconds))
        except Rejected as error:
            answered()
            self._budget.settle(reserved, 0)
            raise _NoHelp(REFUSED, error.message) from error
        answered()
        cost = estimate(asked) + estimate([Message("assistant", said.text)]) if said.tokens is None else said.tokens
        self._budget.settle(reserved, cost)
        try:
            result = checked(said.text, piece, redact=self._redact, files=_files(piece, batch))
        except Nonsense as error:
            raise _NoHelp(NONSENSE, f"its answer cannot be used: {error}") from error
        return result.candidates, result.rejected


class _NoHelp(Exception):
    """The rules must do for a piece."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind
        self.why = why


def rules(batch: Batch) -> Sequence[Candidate]:
    """Return what the rules make of a batch."""
    return memories_from(batch.messages, batch.metadata)


def _files(piece: Sequence[Message], batch: Batch) -> Sequence[str]:
    """Return the paths changed in a piece, as the rules take them."""
    touched = batch.metadata.get("files_touched")
    files = [path for path in touched if isinstance(path, str)] if isinstance(touched, list | tuple) else []
    for message in piece:
        if message.role == "assistant":
            files += evidence_block.split(message.content).files
    return list(dict.fromkeys(files))[: evidence_block.MAX_FILES]


def _best(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return the strongest candidates, as many as the rules leave of a batch, each once and in the dialogue's order."""
    once = list({candidate.text.casefold(): candidate for candidate in candidates}.values())
    strongest = sorted(range(len(once)), key=lambda index: -once[index].score)[:MAX_PER_BATCH]
    return [once[index] for index in sorted(strongest)]
