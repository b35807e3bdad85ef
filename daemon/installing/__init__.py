"""Our entries in the harnesses' own configuration files: put there, found, and taken out, touching nothing else."""
