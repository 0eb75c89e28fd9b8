"""From a graph to a function: prune → rewrite → place → partition → schedule → emit, a file for each stage."""
