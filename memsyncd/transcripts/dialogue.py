"""From steps to the dialogue as it stands: parts joined, repetitions dropped, what was taken back gone."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memsyncd.transcripts.turn import (
    ASSISTANT,
    USER,
    Branched,
    Exchange,
    Linked,
    Over,
    Rewound,
    Said,
    Step,
    Turn,
    Undone,
    Worked,
)


@dataclass(slots=True)
class _Placed:
    """A turn in its place. `is_left` tells that work followed it, `is_over` that its exchange was called ended."""

    turn: Turn
    start: int
    parts: set[str] = field(default_factory=set)
    is_left: bool = False
    is_over: bool = False


@dataclass(slots=True)
class Dialogue:
    """Takes one step after the other; in whatever pieces they came, the same steps make the same dialogue."""

    _placed: list[_Placed] = field(default_factory=list)
    _lengths: dict[str, int] = field(default_factory=dict)
    """How many turns there were when a line of the tree was read."""

    @property
    def turns(self) -> Sequence[Turn]:
        """The turns that stand, in their order. A subagent's are not among them."""
        return [placed.turn for placed in self._placed]

    def take(self, step: Step, start: int) -> None:
        """Apply the step of a line at `start` bytes."""
        match step:
            case Said():
                if not step.turn.is_sidechain:
                    self._say(step, start)
            case Over():
                self._end(step, start)
            case Worked() if self._placed:
                self._placed[-1].is_left = True
                self._placed[-1].is_over = False
            case Linked() if step.id:
                self._lengths.setdefault(step.id, len(self._placed))
            case Branched() | Rewound() | Undone():
                self._take_back(step)

    def exchanges(self) -> Sequence[Exchange]:
        """Return the turns by exchange: a prompt after a reply begins the next."""
        groups: list[list[_Placed]] = []
        for placed in self._placed:
            if not groups or (placed.turn.role == USER and groups[-1][-1].turn.role == ASSISTANT):
                groups.append([])
            groups[-1].append(placed)
        return [_exchange(group) for group in groups]

    def _say(self, step: Said, start: int) -> None:
        turn = step.turn
        last = self._placed[-1] if self._placed else None
        if step.is_echo and self._is_echo(turn):
            return
        if step.joint is not None and not turn.id:
            known = last if last is not None and last.turn.role == turn.role and not last.is_left else None
        else:
            known = self._known(turn)
        if known is None:
            if turn.text.strip():
                self._placed.append(_Placed(turn, start, {step.part} - {""}))
        elif step.joint is None:
            known.turn = replace(turn, at=turn.at if known.turn.at is None else known.turn.at)
        elif not step.part or step.part not in known.parts:
            known.parts |= {step.part} - {""}
            known.turn = replace(known.turn, text=known.turn.text + step.joint + turn.text)

    def _known(self, turn: Turn) -> _Placed | None:
        if not turn.id:
            return None
        same = (
            placed for placed in reversed(self._placed) if (placed.turn.id, placed.turn.role) == (turn.id, turn.role)
        )
        return next(same, None)

    def _is_echo(self, turn: Turn) -> bool:
        for placed in reversed(self._placed):
            if placed.turn.role == turn.role:
                return placed.turn.text.strip() == turn.text.strip()
            if placed.turn.role == USER:
                return False
        return False

    def _end(self, over: Over, start: int) -> None:
        if not self._placed:
            return
        last = self._placed[-1]
        if over.text.strip() and not (last.turn.role == ASSISTANT and last.turn.text.strip() == over.text.strip()):
            last = _Placed(Turn(ASSISTANT, over.text, at=over.at), start)
            self._placed.append(last)
        elif over.text.strip():
            last.is_left = False
        last.is_left = last.is_left or over.is_cut_short
        last.is_over = True

    def _take_back(self, step: Branched | Rewound | Undone) -> None:
        match step:
            case Branched():
                length = self._lengths.get(step.parent)
                if length is not None and step.id not in self._lengths:
                    self._cut(length)
            case Rewound():
                self._rewind(step)
            case Undone():
                self._undo(step.prompts)

    def _rewind(self, step: Rewound) -> None:
        for place, placed in enumerate(self._placed):
            if placed.turn.id == step.to:
                self._cut(place)
                return
        if not step.if_known:
            self._cut(0)

    def _undo(self, prompts: int) -> None:
        places = [place for place, placed in enumerate(self._placed) if placed.turn.role == USER]
        if prompts > 0:
            self._cut(places[-prompts] if prompts <= len(places) else 0)

    def _cut(self, length: int) -> None:
        if length < len(self._placed):
            del self._placed[length:]
            self._lengths = {line: turns for line, turns in self._lengths.items() if turns <= length}


def _exchange(group: Sequence[_Placed]) -> Exchange:
    last = group[-1]
    return Exchange(
        prompts=tuple(placed.turn for placed in group if placed.turn.role == USER),
        replies=tuple(placed.turn for placed in group if placed.turn.role == ASSISTANT),
        is_over=last.is_over,
        is_answered=last.turn.role == ASSISTANT and not last.is_left,
        start=group[0].start,
    )
