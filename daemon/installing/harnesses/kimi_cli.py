"""kimi-cli, the older Python program (hooks-and-apis 1D): Kimi Code's entries in another directory."""

from daemon.installing.harness import Harness, Place
from daemon.installing.harnesses.kimi import EVENTS

HARNESS = Harness(name="kimi-cli", title="kimi-cli", form="tables", events=EVENTS, user=Place("config.toml", ".kimi"))
