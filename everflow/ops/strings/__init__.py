"""Strings: build functions and shape rules."""
