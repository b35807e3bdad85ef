"""Runs the daemon on a network that a test names.

    python other_network.py FILE run …

FILE holds the address that the machine has there; it is empty where there is no network. An address that the machine
had before a change is gone with it.
"""

import sys
from pathlib import Path

from daemon import network_watch
from daemon.__main__ import main
from memsyncd.platforms import addresses

network = Path(sys.argv[1])

if __name__ == "__main__":
    network_watch.own_addresses = lambda: tuple(network.read_text().split())
    addresses.is_here = lambda _family, _name: False  # asked only after a change
    sys.exit(main(sys.argv[2:]))
