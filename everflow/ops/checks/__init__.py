"""Assertions on values and shapes."""
