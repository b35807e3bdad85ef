"""Why a transcript cannot be read. One tree; none of these means that something is lost: the offset stays.

TranscriptUnreadable
├── TranscriptMissing     no path is known, or nothing is there; it may still come
└── TranscriptRefused     what is there is not to be read: no regular file, a link, another user's, out of place
"""


class TranscriptUnreadable(Exception):
    """The message says why, without the transcript's words."""


class TranscriptMissing(TranscriptUnreadable):
    """No path is known, or nothing is there; it may still come."""


class TranscriptRefused(TranscriptUnreadable):
    """What is there is not to be read: no regular file, a link, another user's, or out of place."""
