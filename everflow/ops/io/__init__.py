"""What comes from files and goes to them: readers, parsing, datasets' ops, summaries."""
