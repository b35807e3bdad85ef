"""A real daemon whose spools hold hundreds of things that are no handoffs: what hooks leave beside them is delivered."""

import os
from pathlib import Path
from random import Random

from tests.daemon.intake.rubbish import HANDOFFS, KINDS, Rubbish
from tests.end_to_end.conftest import Home
from tests.fuzz import planted
from tests.fuzz.mutation import ODD_BYTES, Mutator

THINGS = 200


def rubbish(random: Random) -> list[Rubbish]:
    """Return things of every kind under names before, between and behind those of hooks."""
    mutate = Mutator(random, HANDOFFS, [b"hook_input", b"flush", b"session_id"], 20_000)
    made = []
    for number in range(THINGS):
        content = planted.into(mutate(random.choice(HANDOFFS)))
        stem = random.choice([b"!", b"0", b"18", b"f", b"~", b"\xff"]) + b"%04d" % number + random.choice(ODD_BYTES)
        name = stem.translate(None, b"/\0") + random.choice([b".json", b".json", b".running", b".tmp"])
        age = random.choice([0.0, 100.0, 700_000.0, -50_000.0])
        made.append(Rubbish(name[-250:], random.choice(KINDS), content, age))
    return made


def leave(home: Home, random: Random, now: float) -> int:
    """Leave a heap of it in the spool; return how many things lie there."""
    pending = home.spool() / "pending"
    pending.mkdir(parents=True, exist_ok=True, mode=0o700)
    for directory in (home.places.data, home.places.spools, home.spool(), pending):
        directory.chmod(0o700)
    return sum(each.put(pending, now) for each in rubbish(random))


def test_what_hooks_leave_amid_rubbish_is_delivered_in_order(hosted: Home) -> None:
    """Before the start and while it runs: the daemon lives, nothing of it is in its log or on the way to the platform,
    and each session's answers arrive once."""
    assert hosted.api is not None
    random = Random(7)
    now = Path(hosted.root).stat().st_mtime
    assert leave(hosted, random, now) > THINGS // 2
    hosted.exchange("before", 1)
    hosted.end("before")
    daemon = hosted.start()
    for number in range(3):
        leave(hosted, random, now)
        hosted.exchange(f"beside-{number}", 1)
        hosted.end(f"beside-{number}")
    wanted = ["before", *(f"beside-{number}" for number in range(3))]
    hosted.until(lambda: set(wanted) <= set(sessions(hosted)), "not delivered")
    assert sorted(session for session in sessions(hosted) if session in wanted) == sorted(wanted)
    texts = [text for text in hosted.api.delivered_messages() if "beside" in str(text) or "before" in str(text)]
    assert len([text for text in texts if "Answer 1 of" in str(text)]) == len(wanted)
    assert daemon.poll() is None
    for text in (hosted.logged(), str(hosted.api.commits()), str(hosted.status())):
        planted.assert_absent(text)
    assert "Traceback" not in hosted.logged()
    assert hosted.stop() == os.EX_OK


def sessions(home: Home) -> list[str]:
    assert home.api is not None
    return [session for _, _, session in home.api.accepted_batches()]
