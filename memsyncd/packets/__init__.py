"""A block of evidence on its way to a platform: selection, messages, batches."""
