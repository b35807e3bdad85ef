"""The adapters, one file per harness; a file is its data and nothing else. The facts' sections are hooks-and-apis 1."""

from collections.abc import Mapping

from memsyncd.hooks.adapter import Adapter
from memsyncd.hooks.harnesses import (
    antigravity,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini_cli,
    generic,
    kimi,
    kimi_cli,
    opencode,
    windsurf,
)

ADAPTERS: Mapping[str, Adapter] = {
    adapter.name: adapter
    for adapter in (
        claude_code.ADAPTER,
        codex.ADAPTER,
        cursor.ADAPTER,
        kimi.ADAPTER,
        kimi_cli.ADAPTER,
        antigravity.ADAPTER,
        gemini_cli.ADAPTER,
        copilot.ADAPTER,
        opencode.ADAPTER,
        windsurf.ADAPTER,
        generic.ADAPTER,
    )
}
"""By name, which is also the spool's. A harness that is not here is read as `generic`."""
