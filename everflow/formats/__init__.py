"""File formats, byte for byte: records, sorted tables, checkpoints of both versions. Nothing here knows of graphs or
kernels.
"""
