"""Finding memories for a question, the same for every asker: the socket, the command line, MCP and the recall."""
