"""The names under which this process takes jobs: which of them are alive, and of which it is not known what came."""

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from jobs.queue.errors import QueueUnavailable


@dataclass(slots=True)
class Taking:
    """One attempt to take a job: `owner` is unique to it. It is `in_doubt` when the answer to its commit was lost: then
    it is looked for before it is made again."""

    owner: str
    in_doubt: bool = False

    def doubt(self) -> None:
        """Note a lost answer."""
        self.in_doubt = True


class Takings:
    """Safe from any thread. `process` is unique to this run of this process."""

    def __init__(self, process: str) -> None:
        self._owners = (f"{process}-{number}" for number in itertools.count(1))
        self._lock = threading.Lock()
        self._living: set[str] = set()
        self._doubtful: list[Taking] = []
        self._doubtful_ends: set[str] = set()

    def next(self) -> Taking:
        """Return a new attempt, alive from now on: nobody may see a claim before its owner counts as living. One that
        is in doubt comes before any new one."""
        with self._lock:
            if self._doubtful:
                return self._doubtful.pop()
            taking = Taking(next(self._owners))
            self._living.add(taking.owner)
            return taking

    @contextmanager
    def kept(self, taking: Taking) -> Iterator[None]:
        """Where an attempt fails, keep it for later if it is in doubt."""
        try:
            yield
        except BaseException as error:
            with self._lock:
                if taking.in_doubt and isinstance(error, QueueUnavailable):
                    self._doubtful.append(taking)
                else:
                    self._living.discard(taking.owner)
            raise

    def living(self) -> Sequence[str]:
        """Return the owners whose claims are to be renewed."""
        with self._lock:
            return tuple(self._living)

    def over(self, owner: str) -> None:
        """Note that an owner holds nothing any more, or nothing that is to be renewed."""
        with self._lock:
            self._living.discard(owner)
            self._doubtful_ends.discard(owner)

    def doubt_end(self, owner: str) -> None:
        """Note that the answer to the commit of an owner's finish was lost."""
        with self._lock:
            self._doubtful_ends.add(owner)

    def is_doubtful_end(self, owner: str) -> bool:
        """Whether that is so."""
        with self._lock:
            return owner in self._doubtful_ends
