"""What runs inside the agent: the handoff format, the drop, one adapter per harness. Standard library only."""
