"""Savers that draw or run their ops call by call."""
