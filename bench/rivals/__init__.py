"""Durable queues that a Python program could use instead, each behind the same two verbs: put, and work."""
