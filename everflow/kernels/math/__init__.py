"""Arithmetic: element by element, over axes, over segments; matrix products."""
