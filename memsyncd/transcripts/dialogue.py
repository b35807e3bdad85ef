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

    first: Turn
    start: int
    parts: set[str] = field(default_factory=set)
    more: list[str] = field(default_factory=list)
    is_left: bool = False
    is_over: bool = False

    @property
    def turn(self) -> Turn:
        """The turn with all its parts, which stay apart until they are asked for: there may be very many."""
        return replace(self.first, text=self.first.text + "".join(self.more)) if self.more else self.first


@dataclass(slots=True)
class Dialogue:
    """Takes one step after the other; in whatever pieces they came, the same steps make the same dialogue."""

    _placed: list[_Placed] = field(default_factory=list)
    _places: dict[tuple[str, str], int] = field(default_factory=dict)
    """Where a turn with an id stands, by id and role: of each there is one."""
    _lengths: dict[str, int] = field(default_factory=dict)
    """How many turns there were when a line of the tree was read; never fewer than for the line before."""

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
            if not groups or (placed.first.role == USER and groups[-1][-1].first.role == ASSISTANT):
                groups.append([])
            groups[-1].append(placed)
        return [_exchange(group) for group in groups]

    def _say(self, step: Said, start: int) -> None:
        turn = step.turn
        last = self._placed[-1] if self._placed else None
        if step.is_echo and self._is_echo(turn):
            return
        if step.joint is not None and not turn.id:
            known = last if last is not None and last.first.role == turn.role and not last.is_left else None
        else:
            known = self._known(turn)
        if known is None:
            if turn.text.strip():
                self._place(_Placed(turn, start, {step.part} - {""}))
        elif step.joint is None:
            known.first = replace(turn, at=turn.at if known.first.at is None else known.first.at)
            known.more.clear()
        elif not step.part or step.part not in known.parts:
            known.parts |= {step.part} - {""}
            known.more += (step.joint, turn.text)

    def _place(self, placed: _Placed) -> None:
        if placed.first.id:
            self._places[placed.first.id, placed.first.role] = len(self._placed)
        self._placed.append(placed)

    def _known(self, turn: Turn) -> _Placed | None:
        place = self._places.get((turn.id, turn.role)) if turn.id else None
        return None if place is None else self._placed[place]

    def _is_echo(self, turn: Turn) -> bool:
        for placed in reversed(self._placed):
            if placed.first.role == turn.role:
                return placed.turn.text.strip() == turn.text.strip()
            if placed.first.role == USER:
                return False
        return False

    def _end(self, over: Over, start: int) -> None:
        if not self._placed:
            return
        last = self._placed[-1]
        if over.text.strip() and not (last.first.role == ASSISTANT and last.turn.text.strip() == over.text.strip()):
            last = _Placed(Turn(ASSISTANT, over.text, at=over.at), start)
            self._place(last)
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
        known = [place for role in (USER, ASSISTANT) if (place := self._places.get((step.to, role))) is not None]
        if known or not step.if_known:
            self._cut(min(known, default=0))

    def _undo(self, prompts: int) -> None:
        length = len(self._placed)
        while prompts > 0 and length > 0:
            length -= 1
            prompts -= self._placed[length].first.role == USER
        self._cut(length)

    def _cut(self, length: int) -> None:
        for placed in self._placed[length:]:
            self._places.pop((placed.first.id, placed.first.role), None)
        del self._placed[length:]
        while self._lengths and next(reversed(self._lengths.values())) > length:
            self._lengths.popitem()


def _exchange(group: Sequence[_Placed]) -> Exchange:
    last = group[-1]
    return Exchange(
        prompts=tuple(placed.turn for placed in group if placed.first.role == USER),
        replies=tuple(placed.turn for placed in group if placed.first.role == ASSISTANT),
        is_over=last.is_over,
        is_answered=last.first.role == ASSISTANT and not last.is_left,
        start=group[0].start,
    )
