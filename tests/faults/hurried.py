"""Runs the daemon with its waits cut short, so that what heals by itself at the next look is seen to in a second or two.

    python hurried.py run …

Only numbers are changed: how often it looks, how long it waits for a lock, and how long a store or a destination may
fail. The daemon knows nothing of it.
"""

import sys

from daemon import app
from daemon.intake import grace, ingest_thread
from daemon.status import problems
from jobs import failures
from jobs.queue import policy
from jobs.queue import schema as queue_schema
from memsyncd.evidence import opening
from memsyncd.platforms import json_api, mem0
from memsyncd.platforms.local import schema as memory_schema

if __name__ == "__main__":
    app.TICK_SECONDS = 0.5
    ingest_thread.SCAN_SECONDS = 1.0
    grace.GRACE_SECONDS = 2.0
    failures.STORE_SECONDS = 1.0
    problems.FAILING_SECONDS = 1.0
    policy.OFFLINE_FIRST, policy.OFFLINE_LONGEST = 0.5, 1.0
    policy.PAGE_SECONDS = policy.NOT_UNDERSTOOD_FIRST = 1.0
    opening.BUSY_SECONDS, opening.HELD_SECONDS = 1.0, 0.2
    json_api.DEFAULT_WRITE_SECONDS = mem0.SEARCH_SECONDS = 1.0
    queue_schema.BUSY_SECONDS = memory_schema.BUSY_SECONDS = 1.0
    from daemon.__main__ import main

    sys.exit(main(sys.argv[1:]))
