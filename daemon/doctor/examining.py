"""Running checks side by side, each for its time at most and all for the doctor's."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from daemon.doctor.check import Check, failed, unchecked

ALL_SECONDS = 10.0
"""What `doctor` takes at most; `--deep` has a bound of its own."""

ONE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Probe:
    """`run` measures and judges. What hangs for `seconds` is wrong in itself (never-again 134), with the remedy
    `hung`."""

    name: str
    run: Callable[[], Check | Sequence[Check]]
    hung: str = "Something it asks hangs: a network disk, a service manager, a daemon. Try again, and look at that."
    seconds: float = ONE_SECONDS


@dataclass(slots=True)
class _Run:
    probe: Probe
    found: list[Check] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def go(self) -> None:
        try:
            found = self.probe.run()
            self.found = [found] if isinstance(found, Check) else list(found)
        except OSError as error:
            self.found = [unchecked(self.probe.name, f"{error.filename or 'a file'}: {error.strerror or error}")]
        except Exception as error:  # noqa: BLE001  (a check that breaks is no finding, and must not hide the others)
            self.found = [unchecked(self.probe.name, f"{type(error).__name__} while looking ({error})")]
        finally:
            self.over.set()


def examine(
    probes: Sequence[Probe], *, monotonic: Callable[[], float], all_seconds: float = ALL_SECONDS
) -> Iterator[Check]:
    """Yield what each probe finds, in their order. A thread that hangs is left behind and ends with the process."""
    begun = monotonic()
    runs = [_Run(probe) for probe in probes]
    for run in runs:
        threading.Thread(target=run.go, name=f"doctor-{run.probe.name}", daemon=True).start()
    for run in runs:
        left = begun + min(run.probe.seconds, all_seconds) - monotonic()
        if run.over.wait(max(left, 0.0)):
            yield from run.found
        else:
            waited = min(run.probe.seconds, all_seconds)
            yield failed(run.probe.name, f"no answer within {waited:g} s", run.probe.hung)
