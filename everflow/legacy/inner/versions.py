"""tensorflow.python.framework.versions: which version this is, under all its names."""

from everflow import (
    COMPILER_VERSION,
    CXX11_ABI_FLAG,
    GIT_VERSION,
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER,
    MONOLITHIC_BUILD,
    VERSION,
    __compiler_version__,
    __cxx11_abi_flag__,
    __git_version__,
    __monolithic_build__,
    __version__,
)

__all__ = [
    "COMPILER_VERSION",
    "CXX11_ABI_FLAG",
    "GIT_VERSION",
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
    "MONOLITHIC_BUILD",
    "VERSION",
    "__compiler_version__",
    "__cxx11_abi_flag__",
    "__git_version__",
    "__monolithic_build__",
    "__version__",
]
