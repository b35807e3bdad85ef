"""A session delivered to a Mem0 server of one's own, whose answer to a batch confirms it."""

from contextlib import AbstractContextManager
from typing import Any

from tests.end_to_end.killing.hosted import Hosted
from tests.end_to_end.killing.scenario import Case
from tests.fakes.mem0_server import SERVER_KEY, FakeMem0Server


class OwnServer(Hosted):
    """The recorded session again."""

    name = "a session to a Mem0 server"

    def serving(self) -> AbstractContextManager[Any]:
        return FakeMem0Server()

    def connect(self, case: Case) -> None:
        case.home.api = case.service
        case.services[case.service.port] = "platform"
        case.home.environ |= {
            "MEMSYNCD_PLATFORM_KIND": "mem0-server",
            "MEM0_API_URL": case.service.url,
            "MEM0_API_KEY": SERVER_KEY,
            "MEMSYNCD_RETRY_FIRST_DELAY_SECONDS": "0.1",
        }
