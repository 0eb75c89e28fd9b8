"""Derivatives: of graphs, of what a tape heard, and those that a program defines."""
