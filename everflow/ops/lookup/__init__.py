"""Lookup tables: static, from files, mutable."""
