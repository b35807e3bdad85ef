"""What is told of the daemon: the parts of a status, its problems, and where they come from, live or from the files."""
