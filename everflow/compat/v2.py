"""tf.compat.v2: the interface of TensorFlow 2 as far as 1.15 has it.

Most names are the same objects as in tf (`v2_names.txt`). Functions whose arguments changed call tf's
(`v2_signatures.txt`); those that changed otherwise are in a table, with what serves them; what is in none of these is
not there.
"""

from __future__ import annotations

import functools
import importlib
import pathlib
import pkgutil
import sys
import types

import everflow
from everflow.compat import signatures

__path__: list[str] = []  # a package without files: `import tensorflow.compat.v2.keras` goes through legacy/paths.py
# Namespaces that are given as they are, but for names that changed.
_WHOLE = frozenset(["autograph", "errors", "estimator", "keras", "nest", "raw_ops", "sysconfig", "version"])
# Namespaces of what models are built of, rather than of ops.
_MODELS = frozenset(["estimator", "initializers", "keras", "losses", "metrics", "optimizers"])
# A name whose meaning changed, and what serves it: everflow module and name in it.
_CHANGED = {
    "Variable": "ops.variables.variable.VariableV2",
    "batch_to_space": "ops.array.blocks.batch_to_space_nd",
    "constant": "ops.array.constants.constant_v2",
    "constant_initializer": "keras.initializers_v2.Constant",
    "distribute.MirroredStrategy": "distribute.mirrored.MirroredStrategyV2",
    "distribute.OneDeviceStrategy": "distribute.one_device.OneDeviceStrategyV2",
    "distribute.Strategy": "distribute.strategy.StrategyV2",
    "distribute.experimental.CentralStorageStrategy": "distribute.central_storage.CentralStorageStrategyV2",
    "distribute.experimental.MultiWorkerMirroredStrategy": "distribute.collective.MultiWorkerMirroredStrategyV2",
    "distribute.experimental.ParameterServerStrategy": "distribute.central_storage.ParameterServerStrategyV2",
    "distribute.experimental.TPUStrategy": "tpu.strategy.TPUStrategyV2",
    "estimator.BaselineClassifier": "estimator.canned.estimators_v2.BaselineClassifierV2",
    "estimator.BaselineEstimator": "estimator.canned.estimators_v2.BaselineEstimatorV2",
    "estimator.BaselineRegressor": "estimator.canned.estimators_v2.BaselineRegressorV2",
    "estimator.DNNClassifier": "estimator.canned.estimators_v2.DNNClassifierV2",
    "estimator.DNNEstimator": "estimator.canned.estimators_v2.DNNEstimatorV2",
    "estimator.DNNRegressor": "estimator.canned.estimators_v2.DNNRegressorV2",
    "estimator.DNNLinearCombinedClassifier": "estimator.canned.estimators_v2.DNNLinearCombinedClassifierV2",
    "estimator.DNNLinearCombinedEstimator": "estimator.canned.estimators_v2.DNNLinearCombinedEstimatorV2",
    "estimator.DNNLinearCombinedRegressor": "estimator.canned.estimators_v2.DNNLinearCombinedRegressorV2",
    "estimator.LinearClassifier": "estimator.canned.estimators_v2.LinearClassifierV2",
    "estimator.LinearEstimator": "estimator.canned.estimators_v2.LinearEstimatorV2",
    "estimator.LinearRegressor": "estimator.canned.estimators_v2.LinearRegressorV2",
    "estimator.Estimator": "estimator.estimator.EstimatorV2",
    "estimator.classifier_parse_example_spec": "estimator.canned.parsing.classifier_parse_example_spec_v2",
    "estimator.regressor_parse_example_spec": "estimator.canned.parsing.regressor_parse_example_spec_v2",
    "feature_column.categorical_column_with_vocabulary_file": "feature_column.shared_embeddings.categorical_column_with_vocabulary_file_v2",
    "feature_column.make_parse_example_spec": "feature_column.make_parse_example_spec",
    "feature_column.shared_embeddings": "feature_column.shared_embeddings.shared_embeddings",
    "image.ResizeMethod": "ops.image.resize.ResizeMethod",
    "image.crop_and_resize": "ops.image.resize.crop_and_resize_v2",
    "image.draw_bounding_boxes": "ops.image.boxes.draw_bounding_boxes_v2",
    "image.extract_glimpse": "ops.image.boxes.extract_glimpse_v2",
    "image.extract_patches": "ops.array.blocks.extract_image_patches_v2",
    "image.resize": "ops.image.resize.resize_images_v2",
    "image.resize_with_pad": "ops.image.resize.resize_image_with_pad_v2",
    "image.sample_distorted_bounding_box": "ops.image.boxes.sample_distorted_bounding_box_v2",
    "initializers": "keras.initializers_v2",
    "io.decode_raw": "ops.io.parsing.decode_raw_v2",
    "keras.initializers": "keras.initializers_v2",
    "keras.callbacks.TensorBoard": "keras.callbacks.tensorboard_v2.TensorBoard",
    "keras.layers.BatchNormalization": "keras.layers.normalization_v2.BatchNormalization",
    "keras.layers.GRU": "keras.layers.recurrent_v2.GRU",
    "keras.layers.GRUCell": "keras.layers.recurrent_v2.GRUCell",
    "keras.layers.LSTM": "keras.layers.recurrent_v2.LSTM",
    "keras.layers.LSTMCell": "keras.layers.recurrent_v2.LSTMCell",
    "linalg.l2_normalize": "ops.nn.normalization.l2_normalize_v2",
    "linalg.norm": "ops.linalg.norms.norm_v2",
    "losses": "keras.losses",
    "lookup.StaticHashTable": "ops.lookup.static.StaticHashTable",
    "lookup.StaticVocabularyTable": "ops.lookup.static.StaticVocabularyTable",
    "math.bincount": "compat.v2_functions.bincount",
    "math.l2_normalize": "ops.nn.normalization.l2_normalize_v2",
    "metrics": "keras.metrics",
    "name_scope": "framework.scopes.name_scope_v2",
    "nn.RNNCellDeviceWrapper": "rnn.keras_wrappers.DeviceWrapper",
    "nn.RNNCellDropoutWrapper": "rnn.keras_wrappers.DropoutWrapper",
    "nn.RNNCellResidualWrapper": "rnn.keras_wrappers.ResidualWrapper",
    "nn.avg_pool": "ops.nn.pooling.avg_pool_v2",
    "nn.avg_pool2d": "ops.nn.pooling.avg_pool2d_v2",
    "nn.conv2d_transpose": "ops.nn.convolution.conv2d_transpose_v2",
    "nn.conv3d_transpose": "ops.nn.convolution.conv3d_transpose_v2",
    "nn.ctc_beam_search_decoder": "ops.nn.ctc.ctc_beam_search_decoder_v2",
    "nn.ctc_loss": "ops.nn.ctc.ctc_loss_v2",
    "nn.dilation2d": "compat.v2_functions.dilation2d",
    "nn.dropout": "ops.nn.dropout.dropout_v2",
    "nn.erosion2d": "compat.v2_functions.erosion2d",
    "nn.fractional_avg_pool": "compat.v2_functions.fractional_avg_pool",
    "nn.fractional_max_pool": "compat.v2_functions.fractional_max_pool",
    "nn.l2_normalize": "ops.nn.normalization.l2_normalize_v2",
    "nn.max_pool": "ops.nn.pooling.max_pool_v2",
    "nn.softmax_cross_entropy_with_logits": "ops.nn.losses.softmax_cross_entropy_with_logits_v2",
    "nn.space_to_batch": "ops.array.blocks.space_to_batch_nd",
    "norm": "ops.linalg.norms.norm_v2",
    "ones_initializer": "keras.initializers_v2.Ones",
    "optimizers": "keras.optimizers",
    "random.poisson": "ops.random.distributions.random_poisson_v2",
    "random.set_seed": "framework.seeds.set_random_seed",
    "random_normal_initializer": "keras.initializers_v2.RandomNormal",
    "random_uniform_initializer": "keras.initializers_v2.RandomUniform",
    "saved_model.load": "saved_model.object_loading.load_v2",
    "sparse.reduce_max": "compat.v2_functions.reduce_max",
    "sparse.reduce_sum": "compat.v2_functions.reduce_sum",
    "space_to_batch": "ops.array.blocks.space_to_batch_nd",
    "strings.split": "ops.strings.ragged.strings_split",
    "summary": "summary.v2",
    "test.assert_equal_graph_def": "test.graph_comparison.assert_equal_graph_def_v2",
    "test.compute_gradient": "test.gradient_checker_v2.compute_gradient",
    "zeros_initializer": "keras.initializers_v2.Zeros",
    "where": "ops.array.indexing.where_v2",
}


@functools.cache
def _same() -> frozenset[str]:
    return frozenset(pathlib.Path(__file__).with_name("v2_names.txt").read_text().split())


def _all() -> tuple[str, ...]:
    return (*_same(), *_CHANGED, *signatures.lines())


@functools.cache
def _folders() -> frozenset[str]:
    return frozenset(name[:dot] for name in _all() for dot, letter in enumerate(name) if letter == ".")


@functools.cache
def _find(path: str):
    """What `tf.compat.v2.PATH` is; AttributeError where there is none."""
    if served := _CHANGED.get(path):
        try:
            return pkgutil.resolve_name(f"everflow.{served}")
        except ModuleNotFoundError as e:
            raise AttributeError(
                f"module 'tensorflow.compat.v2' has no attribute {path!r} (Everflow doesn't have it yet)"
            ) from e
    if path in signatures.lines():
        return signatures.function(path)
    if path in _folders():
        return _Namespace(path)
    if path in _WHOLE or path in _same():
        return _of_tf(path)
    raise AttributeError(f"module 'tensorflow.compat.v2' has no attribute {path!r}")


def _of_tf(path: str):
    return functools.reduce(getattr, path.split("."), everflow)


def wherever(name: str):
    """The function that is called so in TensorFlow 2, in whatever namespace of ops it is: `tf.NAME`, else `tf.X.NAME`,
    else `tf.X.Y` for a NAME that is X_Y; None where there is none.
    """
    ops = [path for path in _all() if path.partition(".")[0] not in _MODELS]
    paths = [path for path in ops if path.rpartition(".")[2] == name]
    paths = paths or [path for path in ops if path.replace("strings.", "string.").replace(".", "_") == name]
    return _find(min(paths, key=lambda path: (path.count("."), path))) if paths else None


class _Namespace(types.ModuleType):
    """A tf.compat.v2.X."""

    def __init__(self, path: str):
        super().__init__(f"{__name__}.{path}")
        self._path = path
        self._below_whole = path.partition(".")[0] in _WHOLE
        self.__path__: list[str] = []
        sys.modules[self.__name__] = self  # so that `from X import a_name_that_is_not_there` says which name

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._path}.{name}"
        if self._below_whole and path not in _CHANGED and path not in _folders():
            value = getattr(_of_tf(self._path), name)
        else:
            value = _find(path)
        setattr(self, name, value)
        return value

    def __dir__(self):
        return sorted({*_names_below(self._path + "."), *(dir(_of_tf(self._path)) if self._below_whole else ())})


def _names_below(prefix: str) -> list[str]:
    return sorted({name[len(prefix) :].partition(".")[0] for name in _all() if name.startswith(prefix)})


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "compat":
        return importlib.import_module("everflow.compat")
    value = _find(name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*_names_below(""), *_WHOLE, "compat"})
