"""Runs the daemon with shorter claims on the shared queue: `python short_lease.py SECONDS run …`."""

import sys

from daemon.__main__ import main
from daemon.fleet import composing

if __name__ == "__main__":
    composing.lease_of = lambda _: float(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
