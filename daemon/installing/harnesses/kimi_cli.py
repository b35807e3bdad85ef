"""kimi-cli, the older Python program (hooks-and-apis 1D): Kimi Code's entries in another directory (as its 1.49.0 has
it)."""

from daemon.installing.harness import Harness, Place, Tools
from daemon.installing.harnesses.kimi import EVENTS

HARNESS = Harness(
    name="kimi-cli",
    title="kimi-cli",
    form="tables",
    events=EVENTS,
    user=Place("config.toml", ".kimi", variable="KIMI_SHARE_DIR"),
    tools=Tools(user=Place("mcp.json", ".kimi", variable="KIMI_SHARE_DIR")),
)
