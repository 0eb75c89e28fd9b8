"""tf.keras.utils: arrays and labels, files, progress bars, workers, and Keras objects as data."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.keras.generic import (
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    serialize_keras_object,
)
from everflow.keras.utils.arrays import normalize, to_categorical
from everflow.keras.utils.downloads import get_file
from everflow.keras.utils.drawing import model_to_dot, plot_model
from everflow.keras.utils.enqueuers import GeneratorEnqueuer, OrderedEnqueuer, SequenceEnqueuer
from everflow.keras.utils.hdf5_matrix import HDF5Matrix
from everflow.keras.utils.models import convert_all_kernels_in_model, get_source_inputs, multi_gpu_model
from everflow.keras.utils.progress import Progbar
from everflow.keras.utils.sequences import Sequence
