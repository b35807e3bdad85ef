"""What happened in a session, as ordered events in a spool's SQLite file."""
