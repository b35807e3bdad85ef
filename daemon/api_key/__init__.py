"""The platform's key, from wherever it comes."""
