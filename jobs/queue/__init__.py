"""The queue with claims: its contract, and the embedded store on huey."""
