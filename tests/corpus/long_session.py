"""A session of 200 turns, generated with variety: what a long day with an agent looks like.

Most of it is not worth keeping: requests, progress talk, code, logs, thanks. Now and then a cause is found, a rule is
given, a figure measured, and some of that is said again later in other words.
"""

import random
from collections.abc import Sequence

from memsyncd.platforms.platform import Message

_PARTS = (
    "checkout form", "price service", "import job", "mail sender", "report page", "session store", "search index",
    "image resizer", "audit trail", "invoice export", "billing worker", "feature flags", "address parser", "rate limiter",
    "coupon engine", "stock sync", "webhook relay", "login page", "user directory", "tax table", "pdf renderer", "cart cache",
)  # fmt: skip
_FAULTS = (
    "drops the last row", "answers twice", "hangs after an hour", "returns an empty list", "shows yesterday's figures",
    "loses the locale", "uses too much memory", "fails on long names", "ignores the limit", "breaks on leap days",
)  # fmt: skip
_CAUSES = (
    "a missing index on `{table}`", "the connection pool being exhausted", "a naive datetime in `{module}`",
    "an off-by-one in the paging of `{module}`", "the cache key leaving out the tenant", "a retry that is not idempotent",
    "two workers reading the same offset", "an unhandled `None` from `{table}`", "a float used for money in `{module}`",
)  # fmt: skip
_FIXES = (
    "I added the index and a regression test", "it now closes the connection in a `finally` block", "`{module}` now works in UTC only",
    "the paging now counts from zero", "the key now includes the tenant id", "the request now carries an idempotency key",
)  # fmt: skip
_RULES = (
    "always write {thing} in the {part} through the repository class", "never call the {part} from a template",
    "the {part} must answer within {number} ms", "we keep {thing} of the {part} for {number} days",
    "don't add new {thing} to the {part} without a migration", "only the ops team changes {thing} of the {part}",
)  # fmt: skip
_THINGS = ("entries", "settings", "events", "templates", "columns", "tokens", "reports", "metrics")
_PROGRESS = (
    "Let me look at the {part}.", "I'll run the tests for the {part} first.", "Reading `{module}` now.",
    "Now I'm checking how the {part} is called.", "Looking at the logs of the {part}.", "I'll start with `{module}`.",
)  # fmt: skip
_THANKS = ("thanks!", "great, thank you", "perfect", "ok cool", "nice one", "👍", "good, go on")
_TASKS = (
    "can you add a test for the {part}?", "please rename the helper in `{module}`", "show me how the {part} is wired",
    "look at the {part}, something is odd", "what does `{module}` do?", "run the linter over `{module}`",
)  # fmt: skip
_CODE = "```python\ndef {name}(value):\n    result = value * {number}\n    return result\n```"
_LOG = "2024-05-0{digit} 10:1{digit}:02 INFO {name}: processed {number} rows\n2024-05-0{digit} 10:1{digit}:09 ERROR {name}: gave up"

TURNS = 200
"""Requests and answers together 400 messages."""


def long_session(seed: int = 7) -> Sequence[Message]:
    """Return the messages; the same seed gives the same session."""
    chance = random.Random(seed)
    messages: list[Message] = []
    for _ in range(TURNS):
        messages += _turn(chance)
    return messages


def _turn(chance: random.Random) -> Sequence[Message]:
    words = {
        "part": chance.choice(_PARTS),
        "thing": chance.choice(_THINGS),
        "module": f"app/{chance.choice(_PARTS).replace(' ', '_')}.py",
        "table": chance.choice(_PARTS).replace(" ", "_"),
        "number": str(chance.randrange(2, 900)),
        "digit": str(chance.randrange(1, 9)),
        "name": chance.choice(_PARTS).replace(" ", "_"),
    }

    def say(*choices: Sequence[str]) -> str:
        return "\n\n".join(chance.choice(options).format(**words) for options in choices)

    progress = Message("assistant", say(_PROGRESS))
    kind = chance.random()
    if kind < 0.25:
        return [Message("user", say(_THANKS)), Message("assistant", "Glad it helps. Let me know what is next.")]
    if kind < 0.55:
        answer = chance.choice(
            ("Done, the tests pass.", "I've done that.", "Here it is:", "It's a thin wrapper, nothing special.")
        )
        return [Message("user", say(_TASKS)), progress, Message("assistant", f"{answer}\n\n{say((_CODE,))}")]
    if kind < 0.8:
        fault = f"the {words['part']} {chance.choice(_FAULTS)}"
        found = f"The root cause was {say(_CAUSES)}; {say(_FIXES)}."
        return [Message("user", f"{fault}, why?"), progress, Message("assistant", f"{say((_LOG,))}\n\n{found}")]
    if kind < 0.9:
        return [Message("user", say(_RULES)), Message("assistant", "Understood.")]
    before, after = sorted(chance.sample(range(20, 2000), 2), reverse=True)
    measured = f"The {words['part']} went from {before} ms to {after} ms at the median."
    return [Message("user", f"can the {words['part']} be faster?"), progress, Message("assistant", measured)]
