"""From the files hooks leave to committed evidence and queued jobs: the spools, and the one thread that owns them."""
