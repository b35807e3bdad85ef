"""Every bound of the notes, in one place. Characters are Unicode code points."""

DEFAULT_NAMESPACE = "default"

MAX_NAMESPACE_CHARS = 255
"""The old store's files allowed no longer names (hooks-and-apis.md section 6, defect 7), so each of them fits."""

MAX_KEY_CHARS = 1_000
MAX_VALUE_CHARS = 100_000
"""A longer value is refused, not cut: what is stored is whole."""

MAX_GIVEN_CHARS = 10 * MAX_VALUE_CHARS
"""Of a value before its private spans are taken out: what is longer is not even looked at."""

MIN_TTL_SECONDS = 1
MAX_TTL_SECONDS = 100 * 365 * 86_400
"""A hundred years: an expiry stays a date that every program can write down."""

MAX_QUERY_CHARS = 2_000
DEFAULT_RESULTS = 10
MAX_RESULTS = 100

MAX_ANSWER_CHARS = 25_000
"""A tool's answer as text, JSON or markdown (section 6)."""

MAX_SEARCH_VALUE_CHARS = 500
"""Of a value in a search result (section 6)."""

MAX_NOTES = 1_000_000
"""Further notes are refused until some are forgotten or expire."""

MAX_NOTE_TERMS = 5_000
"""Distinct words of one note that search knows; a text of MAX_VALUE_CHARS in English has some 4,000."""

MAX_TOMBSTONES = 100_000
"""Names of forgotten notes kept, the newest, so that an import does not bring those notes back."""

SWEPT_PER_WRITE = 20
"""Expired notes removed by the way with each write, so that they go even where no daemon runs."""

UNSAID_PER_DELETION = 50
"""Words of replaced values looked at by the way when something is forgotten; a sweep looks at all."""

ROWS_AT_ONCE = 500
"""Notes deleted, imported or exported in one transaction: other processes wait for it (never-again 44)."""

MAX_OLD_FILE_BYTES = 256 * 1024 * 1024
"""Of one file of the old store that is read whole; a larger one is named and left where it is."""
