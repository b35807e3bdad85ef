"""The guided engine: atheris (libFuzzer) in a process of its own, with all of our code instrumented.

    python -m tests.fuzz.guided TARGET CORPUS ARTIFACTS FIGURES PLACE INPUTS SECONDS

Ends with 0, and writes its figures; what breaks the target is left in ARTIFACTS, with libFuzzer's own exit code.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import atheris

from tests.fuzz.watching import Watched, held

OURS = ["daemon", "jobs", "memsyncd"]

PATIENCE = 8.0
"""Instrumented code is so much slower than it is."""

LONGEST = 4_096
"""Bytes of an input: what is new is reached by short ones, and long ones are the plain engine's, whose time is strict."""

HANG_SECONDS = 30
MOST_MEMORY = 1_024
"""Megabytes, of which most are libFuzzer's own tables."""

WRITTEN_EVERY = 1_000


def main(name: str, *arguments: str) -> None:
    """Run one target; libFuzzer ends the process."""
    corpus, artifacts, figures, place, inputs, seconds = arguments
    with atheris.instrument_imports(include=OURS, enable_loader_override=False):
        from tests.fuzz import catalogue
        from tests.fuzz.mutation import Mutator

        target = catalogue.target(name)
    seeds = [*target.seeds()]
    for number, seed in enumerate(seeds):
        Path(corpus, f"seed-{number:04}").write_bytes(seed[:LONGEST])
    opened = target.opened(Path(tempfile.mkdtemp(dir=place)))
    watched = Watched(opened.__enter__(), PATIENCE)
    mutate = Mutator(Random(0), seeds, target.words, LONGEST)
    begun = time.monotonic()
    before = held()

    def mutated(content: bytes, most: int, seed: int) -> bytes:
        mutate.random.seed(seed)
        if seed % 2:
            return bytes(atheris.Mutate(content, most))
        return mutate(content)[:most]

    def try_one(content: bytes) -> None:
        watched(content)
        if watched.inputs % WRITTEN_EVERY == 0:
            write()

    def write() -> None:
        told = {"inputs": watched.inputs, "seconds": time.monotonic() - begun, "slowest": watched.slowest,
                "memory_before": before.memory, "memory_after": held().memory}  # fmt: skip
        Path(figures).write_text(json.dumps(told), encoding="ascii")

    write()
    options = [
        f"-runs={inputs}",
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        f"-timeout={HANG_SECONDS}",
        f"-rss_limit_mb={MOST_MEMORY}",
        f"-artifact_prefix={artifacts}/",
        "-print_final_stats=1",
        "-verbosity=0",
        corpus,
    ]
    atheris.Setup([sys.argv[0], *options], try_one, custom_mutator=mutated, internal_libfuzzer=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
