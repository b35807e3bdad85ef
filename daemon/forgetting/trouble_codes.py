"""The codes of what is wrong with the file of what was forgotten. Imports nothing: every `status` loads it."""

UNREADABLE, NEWER = "forgotten-unreadable", "forgotten-newer"
CODES = frozenset({UNREADABLE, NEWER})
