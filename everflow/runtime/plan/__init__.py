"""From a graph to a function: prune → rewrite → place → partition → structure → schedule → emit, a file for each stage."""
