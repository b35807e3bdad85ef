"""Export and import: memories and notes as JSON lines."""
