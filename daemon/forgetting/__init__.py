"""Forgetting: every copy of a session, a project or a memory, and a tombstone so that no replay brings it back."""
