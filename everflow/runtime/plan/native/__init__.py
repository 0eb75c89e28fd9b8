"""Regions of plans as machine code."""
