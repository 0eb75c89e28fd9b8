"""Loops whose iterations don't need each other, drawn as ops on all iterations at once."""
