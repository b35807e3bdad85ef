"""Grace for files that do not parse: half a minute without growth, then they are no handoffs (CONTRACT "Grace")."""

from collections.abc import Collection
from dataclasses import dataclass

from daemon.intake.spool import Waiting
from memsyncd.clock import Clock

GRACE_SECONDS = 30.0


@dataclass(slots=True)
class _Suspect:
    size: int
    changed_at: float
    since: float


class Grace:
    """Remembers suspects by spool and name. Time is monotonic, so that a jumping clock condemns nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._suspects: dict[tuple[str, str], _Suspect] = {}

    def holds(self, spool: str, waiting: Waiting) -> bool:
        """Whether this file was looked at already and need not be opened yet; growth makes it worth a look."""
        suspect = self._suspects.get((spool, waiting.stem))
        if suspect is None:
            return False
        if (suspect.size, suspect.changed_at) != (waiting.size, waiting.changed_at):
            return False
        return self._clock.monotonic() - suspect.since < GRACE_SECONDS

    def is_over(self, spool: str, waiting: Waiting) -> bool:
        """Whether a file that does not parse has had its grace; begins it where it is new or has grown."""
        now = self._clock.monotonic()
        suspect = self._suspects.get((spool, waiting.stem))
        if suspect is None or (suspect.size, suspect.changed_at) != (waiting.size, waiting.changed_at):
            self._suspects[spool, waiting.stem] = _Suspect(waiting.size, waiting.changed_at, now)
            return False
        return now - suspect.since >= GRACE_SECONDS

    def stems(self, spool: str) -> set[str]:
        """Return the suspects of a spool. Safe from any thread."""
        return {stem for name, stem in list(self._suspects) if name == spool}

    def keep(self, spool: str, stems: Collection[str]) -> None:
        """Drop the suspects of a spool that are not among `stems` any more: nobody is to be asked back for them."""
        kept = frozenset(stems)
        for suspect in [each for each in self._suspects if each[0] == spool and each[1] not in kept]:
            del self._suspects[suspect]

    def keep_spools(self, spools: Collection[str]) -> None:
        """Drop the suspects of spools that are not among `spools` any more: nobody looks at those again."""
        for suspect in [each for each in self._suspects if each[0] not in spools]:
            del self._suspects[suspect]

    def forget(self, spool: str, stem: str) -> None:
        """Drop a suspect that parsed after all, or was set aside."""
        self._suspects.pop((spool, stem), None)

    def next_look_seconds(self) -> float | None:
        """Return how long until the first suspect's grace is over, or None where there is none."""
        if not self._suspects:
            return None
        since = min(suspect.since for suspect in self._suspects.values())
        return max(0.0, since + GRACE_SECONDS - self._clock.monotonic())
