"""Random forests that grow from a stream of examples: trees, and what is collected at their leaves."""
