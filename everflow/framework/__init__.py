"""What a graph is made of: Graph, Operation, Tensor, types, shapes, op definitions, scopes, errors.

This floor knows numpy and protobuf, but no single op: those are in `ops`, and what they compute is in `kernels`.
"""
