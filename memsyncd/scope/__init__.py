"""Which repository, directory and branch a session belongs to."""
