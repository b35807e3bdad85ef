"""A daemon whose queue is shared with others: what it is of edge and worker, its connection, its accounts."""
