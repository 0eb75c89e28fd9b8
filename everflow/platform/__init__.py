"""What programs need from the system around them: files, flags, logging, an entry point. Knows nothing of graphs."""
