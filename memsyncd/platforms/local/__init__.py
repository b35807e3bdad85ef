"""The embedded platform: memories made and found on this machine, without a model or a network."""
