"""The page of `memsyncd ui`: a small process of its own, on loopback, beside the daemon."""
