"""Boosted trees: ensembles, splits, predictions."""
