"""Networks that note in collections of the graph, and so in exported models, what their columns take and give."""

from __future__ import annotations

import pickle

from google.protobuf.any_pb2 import Any

from everflow.estimator.canned.dnn import DNNClassifier, DNNRegressor
from everflow.framework.scopes import add_to_collection
from everflow.platform.signatures import parameters_of, taking
from everflow.saved_model.utils import build_tensor_info


class LayerAnnotationsCollectionNames:
    """The collections: features as they come, as columns give them, and the columns. Misspelt as in TensorFlow."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    PROCESSED_FEATURES = "layer_annotatons/processed_features"
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name):
        """The collection of the names of what is in one of these."""
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name):
        """The collection of the tensors, as messages of where they are."""
        return f"{collection_name}/values"


def _note(collection, tensors):
    names = LayerAnnotationsCollectionNames
    for key, tensor in tensors.items():
        add_to_collection(names.keys(collection), key)
        where = Any(type_url="type.googleapis.com/tensorflow.TensorInfo")
        where.value = build_tensor_info(tensor).SerializeToString()
        add_to_collection(names.values(collection), where)


class _Annotating:
    """Part of a network that notes what goes into it; only columns of the older kind are seen, as in TensorFlow."""

    def _note_inputs(self, features, outputs):
        names = LayerAnnotationsCollectionNames
        _note(names.UNPROCESSED_FEATURES, features)
        _note(names.PROCESSED_FEATURES, {column.name: tensor for column, tensor in outputs.items()})
        for column in self._annotated_columns:
            add_to_collection(names.FEATURE_COLUMNS, pickle.dumps(column))


def _annotated(kind):
    """A function that takes what a class of networks does, and makes one that notes its inputs."""

    class Annotated(_Annotating, kind):
        def __init__(self, **given):
            self._annotated_columns = tuple(given["feature_columns"])
            kind.__init__(self, **given)

    listed = parameters_of(kind.__init__, without=("batch_norm",))
    made = taking(listed, Annotated)
    made.__name__ = made.__qualname__ = f"{kind.__name__}WithLayerAnnotations"
    made.__doc__ = f"""`tf.estimator.{kind.__name__}` that notes the features and columns of its input layer in the graph.

    Where the columns are of the older kind, the collections `layer_annotations/unprocessed_features/keys` and `.../values`
    get the features, `layer_annotatons/processed_features/...` the tensors of the columns, and
    `layer_annotations/feature_columns` the columns, pickled. An export takes them along.

    Args:
        hidden_units: How many units each hidden layer has.
        feature_columns: The feature columns that the model sees.

    Returns:
        An estimator. The other arguments are those of the class.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> tf.contrib.estimator.{made.__name__}([4], [x], model_dir="model").model_dir
        'model'
    """
    return made


DNNClassifierWithLayerAnnotations = _annotated(DNNClassifier)
DNNRegressorWithLayerAnnotations = _annotated(DNNRegressor)
