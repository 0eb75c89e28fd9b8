"""Files: readers, parsing, checkpoints, summaries."""
