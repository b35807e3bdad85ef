"""One target's long run: guided, then plain over what was gathered; what broke it becomes a file.

`wholly` and `plainly` are called in a process that does nothing else, so that what it holds is the target's.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fuzz import catalogue, plain
from tests.fuzz.target import Target
from tests.fuzz.watching import Held

FOUND = Path(__file__).parent / "found"

PLAIN_PART = 4
"""The plain engine tries one input for so many of the guided one's."""

GROWTH = 16 << 20
"""Bytes of memory that a process may hold more at the end than once it was warm."""

HEADING = f"{'target':<18}{'inputs':>12}{'guided':>12}{'inputs/s':>10}{'memory, MB':>16}{'slowest':>22}"


@dataclass(frozen=True, slots=True)
class Result:
    """Inputs tried in all and by the guided engine, in so many seconds; what the plain engine's process held; the
    slowest input, in processor seconds and bytes; and what broke the target."""

    name: str
    inputs: int = 0
    guided: int = 0
    seconds: float = 0.0
    before: Held = field(default_factory=lambda: Held(0, 0, 0))
    after: Held = field(default_factory=lambda: Held(0, 0, 0))
    slowest: tuple[float, int] = (0.0, 0)
    broke: tuple[str, ...] = ()

    def line(self) -> str:
        """Return the figures as a line of the table."""
        rate = self.inputs / self.seconds if self.seconds else 0
        memory = f"{self.before.memory >> 20} to {self.after.memory >> 20}"
        slowest = f"{self.slowest[0]:.3f} s, {self.slowest[1]} B"
        told = f"{self.name:<18}{self.inputs:>12,}{self.guided:>12,}{rate:>10,.0f}{memory:>16}{slowest:>22}"
        return "\n".join((told, *(f"    broke: {each}" for each in self.broke)))


def total(results: Sequence[Result]) -> str:
    """Return the sum of the figures."""
    inputs, seconds = sum(each.inputs for each in results), sum(each.seconds for each in results)
    broken = sum(len(each.broke) for each in results)
    guided = sum(each.guided for each in results)
    return f"{inputs:,} inputs, {guided:,} of them guided, in {seconds / 60:.0f} minutes; {broken} broke something"


def memory_disk() -> str | None:
    """Return a directory that is kept in memory: what targets sync costs nothing there. None where there is none."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def wholly(name: str, corpus: Path, place: Path, *, inputs: int, seconds: int) -> Result:
    """Try a target by the guided engine, and what that gathered by the plain one."""
    corpus.mkdir(parents=True, exist_ok=True)
    target = catalogue.target(name)
    guided = _guided(target, corpus, place, inputs=inputs - inputs // PLAIN_PART, seconds=seconds)
    after = plainly(name, corpus, place, inputs=max(1, inputs - guided.inputs), seconds=seconds)
    return replace(
        after,
        inputs=guided.inputs + after.inputs,
        guided=guided.inputs,
        seconds=guided.seconds + after.seconds,
        broke=guided.broke + after.broke,
    )


def plainly(name: str, corpus: Path, place: Path, *, inputs: int, seconds: int) -> Result:
    """Try a target by the plain engine, from its seeds and what a corpus holds."""
    target = catalogue.target(name)
    gathered = [path.read_bytes() for path in sorted(corpus.glob("*")) if path.is_file()]
    seeds = [*target.seeds(), *gathered]
    try:
        run = plain.run(target, place / "plain", seeds=seeds, inputs=inputs, seconds=seconds, seed=str(time.time()))
    except plain.Broke as broke:
        return Result(target.name, broke=(_kept(target, broke.content, repr(broke.__cause__)[:300]),))
    grown = run.after.memory - run.before.memory
    broken = []
    if grown > GROWTH:
        broken.append(f"memory grew by {grown >> 20} MB")
    if run.after.descriptors > run.before.descriptors:
        broken.append(f"{run.after.descriptors - run.before.descriptors} descriptors were left open")
    return Result(target.name, run.inputs, 0, run.seconds, run.before, run.after, run.slowest, tuple(broken))


def _guided(target: Target, corpus: Path, place: Path, *, inputs: int, seconds: int) -> Result:
    artifacts, figures, log = place / "artifacts", place / "figures.json", place / "log"
    artifacts.mkdir(parents=True, exist_ok=True)
    arguments = map(str, (target.name, corpus, artifacts, figures, place, inputs, seconds))
    command = [sys.executable, "-m", "tests.fuzz.guided", *arguments]
    with log.open("wb") as output:
        ended = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    if not figures.exists():
        words = log.read_text(encoding="utf-8", errors="replace")
        return Result(target.name, broke=(f"the guided engine did not run: {words[-500:]}",))
    told = json.loads(figures.read_text(encoding="ascii"))
    broke = [_judged(target, place, path) for path in sorted(artifacts.iterdir())]
    if ended and not broke:
        broke = [f"the guided engine ended with {ended}"]
    return Result(target.name, inputs=told["inputs"], seconds=told["seconds"], broke=tuple(filter(None, broke)))


def _judged(target: Target, place: Path, artifact: Path) -> str:
    """Keep an input that the guided engine ended at, if it breaks the code as it is, too: instrumented it is slower."""
    try:
        plain.run(target, place / "again", seeds=[artifact.read_bytes()], inputs=1, seconds=60, seed="")
    except plain.Broke as broke:
        return _kept(target, broke.content, repr(broke.__cause__)[:300])
    return "" if artifact.name.startswith(("slow-unit-", "timeout-")) else f"{artifact.name} only when instrumented"


def _kept(target: Target, content: bytes, why: str) -> str:
    directory = FOUND / target.name
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / hashlib.sha256(content).hexdigest()[:12]
    path.write_bytes(content)
    return f"{path.name}: {why}"
