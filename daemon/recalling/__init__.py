"""The recall at a session's first prompt: who is told what, once, and within a hook's two seconds."""
