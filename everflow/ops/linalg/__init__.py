"""Matrices: decompositions, functions, norms, linear operators."""
