"""Every setting, its default and its bounds: the one source, from which the file, the environment, the command line,
`config show` and the error messages take them.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

Seconds = Annotated[float, Meta(ge=0.1, le=604_800)]
"""A tenth of a second to a week."""

Days = Annotated[int, Meta(ge=0, le=36_500)]
"""0 keeps for ever."""

MASK = "(set)"


class Spool(Struct, frozen=True, kw_only=True):
    """A further spool. `harness` is taken from the directory's name (`codex-plugin`: codex) where it is empty."""

    path: str
    harness: str = ""


class Platform(Struct, frozen=True, kw_only=True):
    """Where memories live. `kind` is `mem0` when any source of a key is set up, else `local`, unless it is given.

    `url` empty means the platform's own address; `user_id` empty, the operating system's account.
    `max_cooldown_seconds` is the ceiling of a destination's wait after errors. Of the key only its sources are
    settings; the key itself never is.
    """

    kind: Literal["local", "mem0", "mem0-server"] = "local"
    url: str = ""
    api_key_file: str = ""
    api_key_command: str = ""
    user_id: str = ""
    project_id: str = ""
    max_cooldown_seconds: Seconds = 900.0


class Http(Struct, frozen=True, kw_only=True):
    """`timeout_seconds` is a write's; connecting and reading have their own. None of this applies to loopback."""

    timeout_seconds: Annotated[float, Meta(ge=0.1, le=600)] = 15.0
    proxy: str = ""
    ca_file: str = ""

    def __repr__(self) -> str:
        """Leave out the proxy, whose address may carry a password."""
        return f"Http(timeout_seconds={self.timeout_seconds!r}, ca_file={self.ca_file!r})"


class Retry(Struct, frozen=True, kw_only=True):
    """The delay between one item's own attempts: the first, and the ceiling of its doubling."""

    first_delay_seconds: Seconds = 5.0
    max_delay_seconds: Seconds = 1800.0


class Queue(Struct, frozen=True, kw_only=True):
    """`url` empty: embedded; `postgresql://…`: shared between machines. `workers` is the number of threads.

    Of a shared queue: with `role` `edge` this machine puts packets in and delivers none, with `worker` it delivers and
    serves no spool. `account` names whose packets its own are; `keys_directory` holds a key file for each further
    account that it delivers for, named like the account. `payload_key_file` holds the key by which a fleet's machines
    alone read what lies in the queue.
    """

    url: str = ""
    workers: Annotated[int, Meta(ge=1, le=64)] = 4
    role: Literal["both", "edge", "worker"] = "both"
    account: str = ""
    keys_directory: str = ""
    payload_key_file: str = ""

    @property
    def is_edge(self) -> bool:
        """Whether this machine puts packets into a shared queue and delivers none."""
        return bool(self.url) and self.role == "edge"

    def __repr__(self) -> str:
        """Leave out the address, which may carry a password."""
        return f"Queue(workers={self.workers!r})"


class Flush(Struct, frozen=True, kw_only=True):
    """When evidence goes to the platform, and how its extraction is followed.

    `auto` gates only the automatic reasons (facts 15.5). `idle_seconds` 0 stops the daemon's own idle flush.
    `extraction_wait_seconds` is how long an extraction may take; `event_poll_seconds` is the first interval between
    two questions about it.
    """

    auto: bool = True
    idle_seconds: Annotated[float, Meta(ge=0, le=604_800)] = 300.0
    extraction_wait_seconds: Annotated[float, Meta(ge=0, le=86_400)] = 120.0
    event_poll_seconds: Annotated[float, Meta(ge=0.1, le=3600)] = 1.0


class Recall(Struct, frozen=True, kw_only=True):
    """Finding memories for a prompt: facts 7.12 (`top_k`), 5.24 (`scope`), 8.1 (`max_context_chars`), 7.3
    (`min_query_chars`), 7.16 (`once_per_session`).

    `enabled` is the recall at a session's first prompt; explicit searches go on without it. That recall shows five
    memories (facts 7.4) where `top_k` has its default, and else as many as it says.
    """

    enabled: bool = True
    top_k: Annotated[int, Meta(ge=1, le=20)] = 3
    scope: Literal["repo", "dir", "mine"] = "repo"
    max_context_chars: Annotated[int, Meta(ge=1000, le=10_000)] = 4000
    min_query_chars: Annotated[int, Meta(ge=1, le=100_000)] = 20
    once_per_session: bool = False


class Telemetry(Struct, frozen=True, kw_only=True):
    """Nothing leaves the machine, and nothing is recorded, unless it is enabled and endpoint and key are given.

    `account` allows the account's e-mail, as the platform tells it, in the place of a random id (facts 12.22).
    """

    enabled: bool = False
    endpoint: str = ""
    api_key: str = ""
    account: bool = False
    interval_seconds: Annotated[float, Meta(ge=1, le=604_800)] = 300.0

    def __repr__(self) -> str:
        """Leave out the key."""
        return f"Telemetry(enabled={self.enabled!r}, interval_seconds={self.interval_seconds!r})"


class Retention(Struct, frozen=True, kw_only=True):
    """How many days things are kept; 0 is for ever. Memories, and evidence not yet delivered, are never deleted.

    `evidence_days`: after its delivery was confirmed. `jobs_days`: finished and cancelled jobs. `dead_days`: dead
    letters and what lies in `corrupt/`. `telemetry_days`: telemetry that could not be sent.
    """

    evidence_days: Days = 90
    jobs_days: Days = 14
    dead_days: Days = 90
    telemetry_days: Days = 7


class Extractor(Struct, frozen=True, kw_only=True):
    """An OpenAI-compatible endpoint that makes the embedded platform's memories; without `url` plain rules do.

    `wait_seconds` is how long a batch waits for it before the rules make its memories; `input_tokens` how much dialogue
    goes into one request. The budgets are per session of an agent and per day (UTC); 0 bounds nothing.
    """

    url: str = ""
    model: str = ""
    api_key_file: str = ""
    api_key: str = ""
    timeout_seconds: Annotated[float, Meta(ge=0.1, le=600)] = 60.0
    wait_seconds: Annotated[float, Meta(ge=1, le=86_400)] = 80.0
    input_tokens: Annotated[int, Meta(ge=1000, le=24_000)] = 6000
    session_calls: Annotated[int, Meta(ge=0, le=1_000_000)] = 40
    session_tokens: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 500_000
    day_calls: Annotated[int, Meta(ge=0, le=1_000_000)] = 400
    day_tokens: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 4_000_000

    def __repr__(self) -> str:
        """Leave out the key, and the address, which may carry a password."""
        return f"Extractor(model={self.model!r}, is_set_up={bool(self.url)!r})"


class Log(Struct, frozen=True, kw_only=True):
    """`auto` is readable on a terminal, JSON lines elsewhere."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "text"] = "auto"


class Settings(Struct, frozen=True, kw_only=True):
    """All settings. Paths in them are absolute, `~` already resolved.

    `discover`: serve `~/.mem0/*-plugin` too. `exclude`: projects (paths and globs) never captured, sent or recalled
    for. `agent_memory_path`: where `import` looks for old notes.
    """

    discover: bool = True
    exclude: list[str] = field(default_factory=list)
    spools: list[Spool] = field(default_factory=list)
    agent_memory_path: str = ""
    platform: Platform = field(default_factory=Platform)
    http: Http = field(default_factory=Http)
    retry: Retry = field(default_factory=Retry)
    queue: Queue = field(default_factory=Queue)
    flush: Flush = field(default_factory=Flush)
    recall: Recall = field(default_factory=Recall)
    telemetry: Telemetry = field(default_factory=Telemetry)
    retention: Retention = field(default_factory=Retention)
    extractor: Extractor = field(default_factory=Extractor)
    log: Log = field(default_factory=Log)
