from everflow.kernels import registry
"""What an op does, on torch tensors; a file a family. The only package that imports torch, with `runtime`."""


def names() -> list[str]:
    """All op types that have a kernel."""
    return registry.names()
