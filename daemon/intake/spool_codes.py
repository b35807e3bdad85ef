"""The codes of what keeps a spool from being worked on. Imports nothing: every `status` loads it."""

UNREADABLE, READ_ONLY = "spool-unreadable", "spool-read-only"
NOT_PERMITTED, FULL, LOCKED = "spool-not-permitted", "spool-full", "spool-locked"
FAILING, WAITS, NO_DIRECTORY = "spool-failing", "spool-waits", "spool-no-directory"

CODES = frozenset({UNREADABLE, READ_ONLY, NOT_PERMITTED, FULL, LOCKED, FAILING, WAITS, NO_DIRECTORY})
