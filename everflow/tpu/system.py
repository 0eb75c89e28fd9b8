"""Starting and stopping a TPU system, and names of its devices. Off a TPU these nodes can be drawn, not run."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.scopes import device


def core(num):
    """The device of a replica's logical core, for `tf.device`."""
    return f"device:TPU_REPLICATED_CORE:{num}"


def _system_device(job):
    return "/device:TPU_SYSTEM:0" if job is None else f"/job:{job}/device:TPU_SYSTEM:0"


def initialize_system(embedding_config=None, job=None):
    """A node that starts the TPU system, and whose value is its serialized topology."""
    config = "" if embedding_config is None else embedding_config.SerializeToString()
    with device(_system_device(job)):
        return raw.ConfigureDistributedTPU(tpu_embedding_config=config)


def initialize_system_for_tpu_embedding(embedding_config, job=None):
    """A node that prepares a started TPU system for embeddings."""
    with device(_system_device(job)):
        return raw.ConfigureTPUEmbedding(config=embedding_config.SerializeToString())


def shutdown_system(job=None):
    """A node that stops the TPU system."""
    with device(_system_device(job)):
        return raw.ShutdownDistributedTPU()
