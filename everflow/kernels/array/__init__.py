"""The shape and the parts of arrays."""
