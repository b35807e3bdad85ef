"""Notes: the key-value memory with namespaces and lifetimes, and the seven `memory_*` tools over it."""
