"""The MCP server: typed tools over callables given in, and the official SDK that carries them.

Only `serving`, `server`, `messages` and `wire` import the SDK; no hook and no daemon imports any of it.
"""
