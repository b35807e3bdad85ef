"""The daemon with its threads' names told to the kernel, which Python does by itself only from 3.14 on.

python bench/named_threads.py run
"""

import sys
import threading
from pathlib import Path

sys.path[:1] = [str(Path(__file__).resolve().parent.parent)]  # in place of this directory

from daemon.__main__ import main  # noqa: E402  (after the path is set)

MAX_NAME = 15
"""The kernel keeps so many bytes (proc(5), comm)."""

_run = threading.Thread.run


def _named_run(thread: threading.Thread) -> None:
    name = thread.name.encode()[:MAX_NAME]
    Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_bytes(name)
    _run(thread)


if __name__ == "__main__":
    threading.Thread.run = _named_run  # type: ignore[assignment,method-assign]  # for its names alone
    sys.exit(main())
