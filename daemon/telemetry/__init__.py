"""Telemetry, if the user wants it: the consent, what is recorded, where it lies, and how it is discarded."""
