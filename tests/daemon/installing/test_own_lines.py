"""Which command lines are ours: each form we ever wrote, and nothing else."""

import pytest

from daemon.installing.own_lines import OwnLine, other_memory, own_line
from memsyncd.hooks.command_line import command_line

DROP = "/opt/memsyncd/lib/python3.11/site-packages/memsyncd/hooks/drop.py"


def test_the_line_of_this_version_is_ours() -> None:
    """What `command_line` makes is known again, with whatever it carries."""
    line = own_line(command_line("flush", "codex", reason="it's over", home="/a b/c"))
    assert line is not None
    assert line.action == "flush"


@pytest.mark.parametrize(
    ("line", "own"),
    [
        (f"/usr/bin/python3 -I -S {DROP} stop --harness codex", OwnLine("/usr/bin/python3", DROP, "stop")),
        (f"/usr/bin/python3 {DROP} stop --harness codex || true", None),
        (f"'/a b/python3.13t' -I -S '/c d{DROP}' stop --harness=kimi", OwnLine("/a b/python3.13t", f"/c d{DROP}", "stop")),
        (f"/opt/python3.12-intel64 -I -S {DROP} stop --harness codex", OwnLine("/opt/python3.12-intel64", DROP, "stop")),
        (f"/usr/bin/python3/x -I -S {DROP} stop --harness codex", None),
        (f"MEMSYNCD_HOME=/x python3 -I {DROP} stop --harness codex", OwnLine("python3", DROP, "stop")),
        ("memsyncd hook stop --harness codex", OwnLine("", "memsyncd", "stop")),
        ("/v/bin/memsyncd hook flush --harness codex --reason session-end", OwnLine("", "/v/bin/memsyncd", "flush")),
        ("memsyncd hook stop", None),
        ("memsyncd status", None),
        ("memsyncd hook stop --harness codex && ./mine.sh", None),
        ("./mine.sh; memsyncd hook stop --harness codex", None),
        ("memsyncd hook stop --harness codex | tee log", None),
        (f"/usr/bin/python3 -I -S {DROP} stop --harness codex --more", None),
        (f"/usr/bin/python3 -I -S {DROP} stop --harness", None),
        (f"/usr/bin/python3 -I -S {DROP}", None),
        (f"cat {DROP}", None),
        ("python3 /home/ana/drop.py stop --harness codex", None),
        ("an open ' quote", None),
        ("", None),
        (None, None),
        (["memsyncd", "hook"], None),
    ],
)  # fmt: skip
def test_only_whole_lines_of_ours_are_ours(line: object, own: OwnLine | None) -> None:
    """A line that does anything besides is somebody's own, and stays."""
    assert own_line(line) == own


@pytest.mark.parametrize(
    ("handler", "is_memory"),
    [
        ({"command": "~/.mem0/claude-plugin/hook.py"}, True),
        ({"bash": "npx claude-mem save"}, True),
        ({"command": "./mine.sh; memsyncd hook stop --harness codex"}, True),
        ({"command": command_line("stop", "codex")}, False),
        ({"command": "./lint.sh"}, False),
        ({"command": 5}, False),
    ],
)
def test_other_programs_that_record_are_told_by_their_names(handler: dict[str, object], is_memory: bool) -> None:
    """A line of a memory plugin's is shown, for it records the session a second time; ours and others are not."""
    assert bool(other_memory(handler)) is is_memory
