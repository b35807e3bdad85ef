"""What an agent remembers of its users, topics and runs: eight small stores in one provider, in memory or in SQLite.

Importing this package costs nothing; each name brings its part when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memsyncd.agent_state.consolidation import (
        ConsolidationPipeline,
        ConsolidationResult,
        FactExtractor,
        KeywordFactExtractor,
    )
    from memsyncd.agent_state.episode import Episode, EpisodicMemory
    from memsyncd.agent_state.errors import AgentStateError, NewerSchema, NotJson, StoreClosed, StoreUnavailable
    from memsyncd.agent_state.in_memory_episodes import InMemoryEpisodicMemory
    from memsyncd.agent_state.in_memory_procedures import InMemoryProceduralMemory
    from memsyncd.agent_state.in_memory_provider import InMemoryMemoryProvider
    from memsyncd.agent_state.procedure import ProceduralMemory, Procedure, ProcedureStep
    from memsyncd.agent_state.protocols import (
        FactStore,
        GoalStore,
        MemoryProvider,
        MessageStore,
        PhaseStore,
        SessionStateStore,
        SummaryGenerator,
        SummaryStore,
        ToolEventStore,
        UserStore,
    )
    from memsyncd.agent_state.records import GoalState, MemoryMessage, PhaseState, ToolEvent, UserProfile
    from memsyncd.agent_state.session_backends import InMemorySessionBackend, SessionBackend
    from memsyncd.agent_state.session_keys import MemoryScope, SessionKey, scoped_key
    from memsyncd.agent_state.sqlite_episodes import SqliteEpisodicMemory
    from memsyncd.agent_state.sqlite_procedures import SqliteProceduralMemory
    from memsyncd.agent_state.sqlite_provider import SqliteMemoryProvider
    from memsyncd.agent_state.sqlite_provider import SqliteMemoryProvider as SQLiteMemoryProvider
    from memsyncd.agent_state.sqlite_sessions import SqliteSessionBackend
    from memsyncd.agent_state.template_summary import TemplateSummaryGenerator

_NAMES_OF = {
    "consolidation": ("ConsolidationPipeline", "ConsolidationResult", "FactExtractor", "KeywordFactExtractor"),
    "episode": ("Episode", "EpisodicMemory"),
    "errors": ("AgentStateError", "NewerSchema", "NotJson", "StoreClosed", "StoreUnavailable"),
    "in_memory_episodes": ("InMemoryEpisodicMemory",),
    "in_memory_procedures": ("InMemoryProceduralMemory",),
    "in_memory_provider": ("InMemoryMemoryProvider",),
    "procedure": ("ProceduralMemory", "Procedure", "ProcedureStep"),
    "protocols": (
        "FactStore", "GoalStore", "MemoryProvider", "MessageStore", "PhaseStore", "SessionStateStore",
        "SummaryGenerator", "SummaryStore", "ToolEventStore", "UserStore",
    ),
    "records": ("GoalState", "MemoryMessage", "PhaseState", "ToolEvent", "UserProfile"),
    "session_backends": ("InMemorySessionBackend", "SessionBackend"),
    "session_keys": ("MemoryScope", "SessionKey", "scoped_key"),
    "sqlite_episodes": ("SqliteEpisodicMemory",),
    "sqlite_procedures": ("SqliteProceduralMemory",),
    "sqlite_provider": ("SqliteMemoryProvider",),
    "sqlite_sessions": ("SqliteSessionBackend",),
    "template_summary": ("TemplateSummaryGenerator",),
}  # fmt: skip
_ALIASES = {"SQLiteMemoryProvider": "SqliteMemoryProvider"}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}

__all__ = [
    "AgentStateError", "ConsolidationPipeline", "ConsolidationResult", "Episode", "EpisodicMemory", "FactExtractor",
    "FactStore", "GoalState", "GoalStore", "InMemoryEpisodicMemory", "InMemoryMemoryProvider",
    "InMemoryProceduralMemory", "InMemorySessionBackend", "KeywordFactExtractor", "MemoryMessage", "MemoryProvider",
    "MemoryScope", "MessageStore", "NewerSchema", "NotJson", "PhaseState", "PhaseStore", "ProceduralMemory",
    "Procedure", "ProcedureStep", "SQLiteMemoryProvider", "SessionBackend", "SessionKey", "SessionStateStore",
    "SqliteEpisodicMemory", "SqliteMemoryProvider", "SqliteProceduralMemory", "SqliteSessionBackend", "StoreClosed",
    "StoreUnavailable", "SummaryGenerator", "SummaryStore", "TemplateSummaryGenerator", "ToolEvent", "ToolEventStore",
    "UserProfile", "UserStore", "scoped_key",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    own = _ALIASES.get(name, name)
    if own not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[own]}"), own)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
