"""Eager execution that is connected to a cluster from the beginning."""

from __future__ import annotations

from everflow.config.connecting import set_server_def
from everflow.eager.mode import enable_eager_execution


def enable_remote_eager_execution(config=None, device_policy=None, execution_mode=None, server_def=None):
    """Run operations at once from now on, on this machine and on the tasks of a cluster.

    Args:
        config: A `tf.ConfigProto` with settings.
        device_policy: What to do with inputs on another device: a value of `tf.contrib.eager`.
        execution_mode: `tf.contrib.eager.SYNC` or `ASYNC`.
        server_def: A ServerDef with the cluster and this process's place in it; without one, there is this machine only.

    Returns:
        None.

    Raises:
        TypeError: If `config` is no ConfigProto.
        ValueError: If a graph was drawn before, or a policy or mode isn't known.

    Example:
        >>> tf.contrib.eager.enable_remote_eager_execution()
        >>> tf.constant(1).device
        '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    enable_eager_execution(config, device_policy, execution_mode)
    if server_def is not None:
        set_server_def(server_def)
