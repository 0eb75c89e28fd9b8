"""Inner names of the linear operators."""
