"""What a platform tells of the memories it made of a packet reaches who asked to hear of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memsyncd.evidence.event import Packet, PacketStatus, Scope
from memsyncd.platforms.platform import Memory
from tests.jobs.delivering import SCOPE, Delivering
from tests.memsyncd.platforms.grounds import hosted, self_hosted


@pytest.mark.parametrize("ground", [hosted, self_hosted])
def test_a_delivered_packet_tells_its_memories(tmp_path: Path, ground: Callable[[], Any]) -> None:
    """Once, with the packet and the scope they are of, by an extraction event or by the answer to the add."""
    told: list[tuple[Packet, Scope, Sequence[Memory]]] = []
    with ground() as remote:
        delivering = Delivering(tmp_path, remote.platform)
        delivering.delivery = replace(
            delivering.delivery, on_memories=lambda packet, scope, memories: told.append((packet, scope, memories))
        )
        delivering.say("user_prompt", prompt="We use pnpm for the web client.")
        delivering.say("assistant_stop", text="Noted.")
        delivering.ask()
        delivering.run(60.0)
        assert delivering.packet().status == PacketStatus.SUCCEEDED
        delivering.close()
    ((_, scope, memories),) = told
    assert (scope.app_id, scope.project_id) == (SCOPE.app_id, SCOPE.project_id)
    (memory,) = memories
    assert memory.id
    assert "We use pnpm for the web client." in memory.memory
