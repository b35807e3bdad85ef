"""What keeps a directory that is not there yet from being made."""

import os
from pathlib import Path


def hindrance(directory: Path) -> str:
    """Return what is wrong with the nearest thing above `directory` that is there, as said of its path; "" where the
    directory is there itself, or this process could make it. Changes nothing; raises nothing."""
    step = directory
    while not os.path.lexists(step) and step != step.parent:
        step = step.parent
    if step == directory:
        return ""
    if not os.path.exists(step):
        return f"{step} is a link into nothing"
    if not os.path.isdir(step):
        return f"{step} is no directory"
    if not os.access(step, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        return f"{step} cannot be written by you"
    return ""
