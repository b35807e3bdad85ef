"""The queue with claims, its policy, and one file per job."""
