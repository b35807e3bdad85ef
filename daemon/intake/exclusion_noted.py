"""An exclusion that the hook saw: the marker may be gone by the time its handoff is looked at."""

import os

from memsyncd.hooks.handoff import Handoff
from memsyncd.transcripts.place import MAX_PATH


def covers(handoff: Handoff, directory: str) -> bool:
    """Whether the hook noted that `directory`, or one above it, had the marker `.memsyncd-ignore`."""
    noted = handoff.extra.get("excluded")
    if not isinstance(noted, str) or not os.path.isabs(noted) or len(directory) > MAX_PATH:
        return False
    try:
        place = os.path.realpath(directory) if directory else ""
    except ValueError:  # a NUL, which is in no real path
        return False
    return place == noted or place.startswith(noted.rstrip("/") + "/")
