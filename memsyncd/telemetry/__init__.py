"""Telemetry: what happened, in numbers and labels, on its way to an endpoint the user named (facts 12).

Nothing in this room decides whether anything may leave the machine: whoever makes a recorder or a sender has asked
that first.
"""
