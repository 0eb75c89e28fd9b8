"""Tools for graphs, checkpoints and models: each a module with functions, most with a command line of their own."""
