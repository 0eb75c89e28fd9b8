"""Functions in graphs: defined, traced, wrapped, called, differentiated; Python functions as ops."""
