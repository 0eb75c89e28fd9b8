"""Input functions for serving: examples as they come in, parsed for a model."""

from __future__ import annotations

from everflow.contrib.learn.model_ops import InputFnOps
from everflow.framework import dtypes
from everflow.ops.array import placeholder
from everflow.ops.io.examples import parse_example


def build_parsing_serving_input_fn(feature_spec, default_batch_size=None):
    """A function that parses serialized Examples, which are fed, by a spec of features."""

    def input_fn():
        serialized = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example(serialized, feature_spec), None, {"examples": serialized})

    return input_fn


def build_default_serving_input_fn(features, default_batch_size=None):
    """A function that makes a placeholder for each feature, of its type and shape but for the size of the batch."""

    def input_fn():
        placeholders = {
            name: placeholder(feature.dtype, [default_batch_size, *feature.shape.as_list()[1:]], name=feature.op.name)
            for name, feature in features.items()
        }
        return InputFnOps(placeholders, None, placeholders)

    return input_fn
