"""A worker's accounts: its own by a key source, and those with a key in a directory."""

from pathlib import Path

from daemon.api_key.source import KeySource
from daemon.fleet.accounts import Accounts
from memsyncd.clock import Clock
from tests.fakes.scripted_platform import ScriptedPlatform


def own_account(key_source: KeySource, directory: Path | None = None, *, needs_no_key: bool = False) -> Accounts:
    """Return them; every platform is scripted."""
    return Accounts(
        "own",
        key_source=key_source,
        platform=ScriptedPlatform(),
        needs_no_key=needs_no_key,
        directory=directory,
        reached=lambda _: ScriptedPlatform(),
        clock=Clock(),
    )
