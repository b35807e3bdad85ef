"""Runs the daemon with a fleet's waits cut short: `python hurried_fleet.py LEASE run …`.

Only numbers are changed: how long a claim lasts (LEASE seconds), how often a machine looks, and how long a database may be silent.
The daemon knows nothing of it.
"""

import sys

from daemon import app
from daemon.fleet import composing, fleet
from jobs import failures
from jobs.fleet import deliver, learn, share
from jobs.queue import claiming_huey, doorbell
from jobs.queue.postgres import listening, reading, serving, storage

if __name__ == "__main__":
    composing.lease_of = lambda _: float(sys.argv[1])
    app.TICK_SECONDS = 0.5
    fleet.UPKEEP_SECONDS, fleet.SILENT_SECONDS = 1.0, 2.0
    deliver.LOOK_AFTER_SECONDS = 1.0
    learn.LEARN_SECONDS = share.LEARN_SECONDS = 0.5
    learn.GIVEN_UP_SECONDS = 1.0
    failures.STORE_SECONDS = 0.5
    claiming_huey.UNAVAILABLE_PAUSE = listening.LONGEST_PAUSE = 0.5
    doorbell.SAFETY_SECONDS = 2.0
    storage._PARAMETERS["connect_timeout"] = 2  # libpq takes no less
    reading.READING_SECONDS = serving.RUNS_SECONDS = 3.0
    from daemon.__main__ import main

    sys.exit(main(sys.argv[2:]))
