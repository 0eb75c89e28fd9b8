"""Estimators that come ready made: linear models, networks, both together."""
