"""Keras models on TPUs, on a machine that has none: an error, as in TensorFlow."""

from everflow.tpu.strategy import _query_tpu_system_metadata


class TPUDistributionStrategy:
    """The cores of the TPU that a resolver leads to, for `keras_to_tpu_model`."""

    def __init__(self, tpu_cluster_resolver=None, using_single_core=False):
        master = "" if tpu_cluster_resolver is None else tpu_cluster_resolver.master()
        if not _query_tpu_system_metadata(master).num_cores:
            raise Exception(f"There is no TPU at {master or 'this machine'!r}.")  # the type that TensorFlow raises
        self.tpu_cluster_resolver, self.using_single_core = tpu_cluster_resolver, using_single_core


def keras_to_tpu_model(model, strategy=None):
    """A Keras model to be trained on a TPU; there has to be one."""
    strategy = strategy or TPUDistributionStrategy()
    raise NotImplementedError("Everflow has no kernels for TPUs: train the Keras model itself.")
