"""The process: settings, start and stop, watching and ingest, status socket, command line."""
