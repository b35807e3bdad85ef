"""The tools behind the official SDK's server: listed with schemas and hints, called in threads. Both eras of the
protocol are the SDK's own doing (hooks-and-apis 5A, 5B)."""

from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from memsyncd.mcp_server.calling import Calling
from memsyncd.mcp_server.tool import Answer, ServedTool
from memsyncd.mcp_server.tools import Tools
from memsyncd.recall.cutting import repaired
from memsyncd.version import __version__

NAME = "memsyncd"

INSTRUCTIONS = (
    "Memory of earlier coding sessions. search_memories finds what was learnt on this project: ask it before you work"
    " out again what may be known. The memory_* tools keep notes under keys, for you to set down and look up exact"
    " things. What happens in the session is recorded without your doing; memory_queue_status tells whether it arrives."
    " A failed search does not mean that nothing is known."
)

LISTING_TTL_MS = 3_600_000
"""The listing is the same for everybody and changes with the program's version only (SEP-2549)."""

Context = ServerRequestContext[Any, Any]


def build(tools: Tools, calling: Calling, *, project: Callable[[Mapping[str, Any]], str]) -> Server[Any]:
    """Return the server. `project` gives the directory a request is about, from its `_meta`."""
    listing = [_listed(each) for each in tools.listed]

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(code=INVALID_PARAMS, message="The listing has one page: leave out the cursor")
        return ListToolsResult(tools=listing)

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        name, given = params.name, params.arguments or {}
        directory = project(params.meta or {})
        return _result(await calling.answer(name, lambda: tools.call(name, given, directory)))

    return Server(
        NAME,
        version=__version__,
        title="memsyncd memory",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(LISTING_TTL_MS, "public")},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _listed(served: ServedTool) -> Tool:
    tool, hints = served.tool, served.tool.hints
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema(),
        output_schema=None if served.output_schema is None else dict(served.output_schema),
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )


def _result(answer: Answer) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=repaired(answer.text))],
        structured_content=answer.structured,
        is_error=answer.is_error,
    )
