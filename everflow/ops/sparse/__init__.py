"""Sparse tensors and sets."""
