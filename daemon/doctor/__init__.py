"""`doctor`: what can be measured without the daemon, judged, with a remedy for whatever is wrong."""
