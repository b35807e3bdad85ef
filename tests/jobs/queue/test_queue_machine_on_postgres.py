"""The same machine on the shared queue, with fewer examples: a statement there costs a journey to the server."""

import pytest
from hypothesis import HealthCheck, settings

from tests.jobs.queue.test_queue_machine import QueueMachine

pytestmark = pytest.mark.no_cover  # as in test_queue_machine.py


class SharedQueueMachine(QueueMachine):
    """The store is PostgreSQL."""

    store = "postgres"


SharedQueueMachine.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestSharedQueueMachine = SharedQueueMachine.TestCase
