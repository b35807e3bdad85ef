"""Where memories live: the protocol every platform keeps, and one module per platform."""
