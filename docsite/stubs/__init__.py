"""Stubs (`.pyi`) of the public namespaces, made from the package: `make stubs` writes them beside the modules they
describe, and a test says when they are out of date.

Names are those that TensorFlow 1.15 has and everflow serves; signatures are Python's own, with types from annotations,
from parameters' names and defaults (`parameters.py`), and for results from what functions return (`results.py`).
"""
