"""What is kept and found about coding-agent sessions, and what other programs import.

`from memsyncd import MemoryLifecycle` and the other names below are the public, typed interface; docs/api.md shows them
at work. Importing this package costs nothing: a hook starts through it, so each name's module is loaded when the name
is first asked for.
"""

from memsyncd.version import __version__

TYPE_CHECKING = False  # the real one costs as much to import as a whole hook
if TYPE_CHECKING:
    from memsyncd.clock import Clock
    from memsyncd.lifecycle import prompts
    from memsyncd.lifecycle.capture import prepare_conversation, prepare_user_text
    from memsyncd.lifecycle.entities import entity_parameters
    from memsyncd.lifecycle.filters import add_parameters, search_filters
    from memsyncd.lifecycle.formatting import add_result, age, compact, grouped, listed, truncated
    from memsyncd.lifecycle.found import memories_of
    from memsyncd.lifecycle.lifecycle import MemoryLifecycle
    from memsyncd.lifecycle.project import project_from_remote
    from memsyncd.lifecycle.recall import Outcome, Recall
    from memsyncd.lifecycle.scopes import (
        GlobalScopeRefused,
        InvalidMemoryScope,
        MemoryIdentity,
        MemoryScope,
        MemoryScopeError,
        scope_of,
        tool_scope,
    )
    from memsyncd.lifecycle.timed_search import AsyncSearch, Search
    from memsyncd.platforms.platform import Memory, Message
    from memsyncd.recall.context import Context, Frame, combined, context, search_text, tagged
    from memsyncd.redaction.private_spans import without_private
    from memsyncd.redaction.redactor import bounded, redact, redact_value

__all__ = [
    "AsyncSearch",
    "Clock",
    "Context",
    "Frame",
    "GlobalScopeRefused",
    "InvalidMemoryScope",
    "Memory",
    "MemoryIdentity",
    "MemoryLifecycle",
    "MemoryScope",
    "MemoryScopeError",
    "Message",
    "Outcome",
    "Recall",
    "Search",
    "__version__",
    "add_parameters",
    "add_result",
    "age",
    "bounded",
    "combined",
    "compact",
    "context",
    "entity_parameters",
    "grouped",
    "listed",
    "memories_of",
    "prepare_conversation",
    "prepare_user_text",
    "project_from_remote",
    "prompts",
    "redact",
    "redact_value",
    "scope_of",
    "search_filters",
    "search_text",
    "tagged",
    "tool_scope",
    "truncated",
    "without_private",
]

_HOMES = {
    "clock": ("Clock",),
    "lifecycle.capture": ("prepare_conversation", "prepare_user_text"),
    "lifecycle.entities": ("entity_parameters",),
    "lifecycle.filters": ("add_parameters", "search_filters"),
    "lifecycle.formatting": ("add_result", "age", "compact", "grouped", "listed", "truncated"),
    "lifecycle.found": ("memories_of",),
    "lifecycle.lifecycle": ("MemoryLifecycle",),
    "lifecycle.project": ("project_from_remote",),
    "lifecycle.prompts": ("prompts",),
    "lifecycle.recall": ("Outcome", "Recall"),
    "lifecycle.scopes": (
        "GlobalScopeRefused",
        "InvalidMemoryScope",
        "MemoryIdentity",
        "MemoryScope",
        "MemoryScopeError",
        "scope_of",
        "tool_scope",
    ),
    "lifecycle.timed_search": ("AsyncSearch", "Search"),
    "platforms.platform": ("Memory", "Message"),
    "recall.context": ("Context", "Frame", "combined", "context", "search_text", "tagged"),
    "redaction.private_spans": ("without_private",),
    "redaction.redactor": ("bounded", "redact", "redact_value"),
}
"""Module by module, what is imported above for those who check types."""

if not TYPE_CHECKING:  # a checker that saw these would take every name for one of ours

    def __getattr__(name: str) -> object:
        for home, names in _HOMES.items():
            if name in names:
                from importlib import import_module  # noqa: PLC0415  (as late as the modules)

                module = import_module(f"memsyncd.{home}")
                value = globals()[name] = getattr(module, name, module)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
