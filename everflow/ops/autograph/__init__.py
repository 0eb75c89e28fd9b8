"""AutoGraph: Python's branches and loops over tensors become those of the graph."""
