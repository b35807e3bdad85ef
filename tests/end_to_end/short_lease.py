"""Runs the daemon with shorter claims on the shared queue: `python short_lease.py SECONDS run …`."""

import sys
from functools import partial

from daemon.__main__ import main
from daemon.fleet import composing
from jobs.queue.shared import open_shared

if __name__ == "__main__":
    composing.open_shared = partial(open_shared, lease=float(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
