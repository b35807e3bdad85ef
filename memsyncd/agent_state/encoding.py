"""The JSON in which state is kept, in memory as on disk: what comes back is never the caller's own object.

Both backends go through here, so that a program tried on the one meets no surprise on the other: a tuple comes back as
a list, and what JSON cannot hold is refused by both.
"""

import json
from typing import Any

from memsyncd.agent_state.errors import NotJson


def encode(value: Any) -> str:
    """Return `value` as JSON. Raises NotJson where it holds what JSON cannot, or itself."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(f"agent state must be JSON: {error}") from error


def decode(text: str) -> Any:
    """Return what `encode` was given, made anew."""
    return json.loads(text)


def encode_fields(fields: dict[str, Any]) -> str:
    """Return a record's fields as a JSON object; those that are None are left to their default."""
    return encode({name: value for name, value in fields.items() if value is not None})
