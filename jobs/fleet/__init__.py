"""Delivery by several machines: an edge puts whole batches into the shared queue, and any worker delivers them."""
