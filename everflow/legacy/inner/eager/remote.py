"""TensorFlow's `python.eager.remote`: machines that eager operations may run on."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.config.connecting import experimental_connect_to_cluster as connect_to_cluster
from everflow.config.connecting import experimental_connect_to_host as connect_to_remote_host

_GRPC_PREFIX = "grpc://"


def _strip_prefix(s: str, prefix: str) -> str:
    """A text without what it begins with."""
    return s.removeprefix(prefix)
