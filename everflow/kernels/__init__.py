"""What an op does, on torch tensors: a folder for each family, named as in `ops`. The only package that imports torch,
with `runtime`.
"""


def names() -> list[str]:
    """All op types that have a kernel."""
    from everflow.kernels import registry  # builds on this module

    return registry.names()
