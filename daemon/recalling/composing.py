"""The recaller, made from the daemon's parts."""

from collections.abc import Callable
from functools import partial

from daemon.compose import Parts
from daemon.recalling.around import Around
from daemon.recalling.recaller import Recaller
from daemon.recalling.untold_prompt import untold_prompt


def recaller_of(parts: Parts, scan: Callable[[float], bool]) -> Recaller:
    """Return what answers prompts' hooks; `scan` takes in what they have just left."""

    def held(directory: str) -> str | None:
        if parts.gate.is_excluded(directory):
            return "its project is excluded"
        return parts.gate.hold(parts.resolver.resolve(directory))

    return Recaller(
        Around(
            store=parts.served.store,
            scan=scan,
            search=parts.search,
            resolve=parts.resolver.resolve,
            held=held,
            untold=partial(untold_prompt, home=parts.places.home),
            settings=parts.settings.recall,
            clock=parts.clock,
            counters=parts.counters,
            on_event=parts.journal.note,
        )
    )
