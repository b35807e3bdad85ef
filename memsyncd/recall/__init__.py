"""Finding memories for a prompt, and putting them into words for an agent."""
