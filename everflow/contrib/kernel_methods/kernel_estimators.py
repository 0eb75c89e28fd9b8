"""`KernelLinearClassifier`: a linear classifier over features that kernel mappers made, which comes near a kernel machine."""

from __future__ import annotations

from everflow.contrib.layers import real_valued_column
from everflow.contrib.learn.class_heads import multi_class_head
from everflow.contrib.learn.linear import _Linear
from everflow.contrib.learn.predictors import TellsClasses
from everflow.ops import array

_MAPPED = "_MAPPED"


def _checked(kernel_mappers):
    for column, mappers in kernel_mappers.items():
        if not mappers:
            raise ValueError(f"Column {column} has an empty list of kernel mappers")
        for mapper in mappers:
            if not callable(getattr(mapper, "map", None)):
                raise ValueError(f"A kernel mapper has a method `map`; {mapper} has none")
    return kernel_mappers


class KernelLinearClassifier(TellsClasses, _Linear):
    """A linear classifier; columns that have kernel mappers are seen through them.

    >>> mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(784, 2000, stddev=5.0)
    >>> images = tf.contrib.layers.real_valued_column("images", dimension=784)
    >>> tf.contrib.kernel_methods.KernelLinearClassifier(n_classes=10, kernel_mappers={images: [mapper]})
    """

    def __init__(
        self,
        feature_columns=None,
        model_dir=None,
        n_classes=2,
        weight_column_name=None,
        optimizer=None,
        kernel_mappers=None,
        config=None,
    ):
        if not feature_columns and not kernel_mappers:
            raise ValueError("Give feature_columns, kernel_mappers or both.")
        self._kernel_mappers = _checked(dict(kernel_mappers or {}))
        plain = [column for column in feature_columns or () if column not in self._kernel_mappers]
        mapped = [
            real_valued_column(column.name + _MAPPED, dimension=sum(mapper.output_dim for mapper in mappers))
            for column, mappers in self._kernel_mappers.items()
        ]
        head = multi_class_head(n_classes, weight_column_name=weight_column_name)
        super().__init__(head, [*plain, *mapped], model_dir=model_dir, optimizer=optimizer, config=config)

    def predict_classes(self, input_fn=None):
        """The class of each example."""
        return super().predict_classes(input_fn=input_fn)

    def predict_proba(self, input_fn=None):
        """The probabilities of the classes for each example."""
        return super().predict_proba(input_fn=input_fn)

    def _draw(self, features, labels, mode, config):
        features = dict(features)
        for column, mappers in self._kernel_mappers.items():
            parts = [mapper.map(features[column.name]) for mapper in mappers]
            features[column.name + _MAPPED] = array.concat(parts, 1) if len(parts) > 1 else parts[0]
        return super()._draw(features, labels, mode, config)
