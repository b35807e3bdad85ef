"""Memory policies for any host: what is asked, shown and kept, where the host brings its own way to search."""
