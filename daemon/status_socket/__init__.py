"""HTTP on the Unix socket: server, routes and client."""
