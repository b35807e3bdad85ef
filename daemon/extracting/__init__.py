"""Memories by a model of the user's own, in the daemon: off unless its address is set."""
