"""What an op does, on torch tensors: a folder for each family, named as in `ops`. The only package that imports torch,
with `runtime`.
"""

from everflow.platform.torch_loading import load_torch

load_torch()  # before a kernel does


def names() -> list[str]:
    """All op types that have a kernel."""
    from everflow.kernels import registry  # builds on this module

    return registry.names()
