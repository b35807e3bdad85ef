"""The harnesses that hooks can be installed for, in the order they are listed."""

from collections.abc import Mapping

from daemon.installing.harness import Harness
from daemon.installing.harnesses import (
    antigravity,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini_cli,
    kimi,
    kimi_cli,
    opencode,
    windsurf,
)

HARNESSES: Mapping[str, Harness] = {
    harness.name: harness
    for harness in (
        claude_code.HARNESS,
        codex.HARNESS,
        cursor.HARNESS,
        kimi.HARNESS,
        kimi_cli.HARNESS,
        antigravity.HARNESS,
        gemini_cli.HARNESS,
        copilot.HARNESS,
        opencode.HARNESS,
        windsurf.HARNESS,
    )
}
"""By name, which is also the spool's."""
