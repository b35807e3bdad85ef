"""What `run` would refuse of a fleet's settings beside their values: looked at without the database, for `config check`
and `doctor`."""

from pathlib import Path

from daemon.configuration_error import ConfigurationError
from daemon.fleet import payload_key
from daemon.settings import Settings
from jobs.queue.errors import NotSetUp
from jobs.queue.shared import check_url


def faults(settings: Settings) -> list[str]:
    """Return a sentence for each: the driver that is missing, a URL it cannot read, a key file that is of no use."""
    queue, told = settings.queue, []
    if not queue.url:
        return []
    try:
        check_url(queue.url)
    except NotSetUp as error:
        told.append(f"queue.url: {error}.")
    try:
        if queue.payload_key_file:
            payload_key.read(Path(queue.payload_key_file))
    except ConfigurationError as error:
        told += error.sentences
    return told
