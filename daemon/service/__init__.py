"""The daemon under a service manager: units and agents rendered, installed, started, stopped and looked at."""
