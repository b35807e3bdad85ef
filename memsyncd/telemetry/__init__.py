"""What memsyncd and plugins tell about themselves, and only to an endpoint the user has set."""
