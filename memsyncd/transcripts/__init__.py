"""Transcripts: what harnesses write down of a session, read for the answers that their hooks do not tell."""
