"""How layers of `tf.layers` get their variables here: as model variables, under contrib's names for them."""

from __future__ import annotations

import functools

from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.outputs import get_variable_collections
from everflow.framework import dtypes
from everflow.ops.variables.variable import VariableAggregation, VariableSynchronization


def layer_variable(name, shape, dtype, initializer, collections, trainable, kind=None, **options):
    """A model variable in the collections a layer was given, by kind where these are a dict; the kind is mostly its
    name.
    """
    return model_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        collections=get_variable_collections(collections, kind or name),
        trainable=trainable,
        **options,
    )


def model_variable_getter(rename=None):
    """A custom getter for a variable scope: {"kernel": "weights"} makes `scope/kernel` the model variable
    `scope/weights`.
    """
    return functools.partial(_model_variable, rename=rename or {})


def _model_variable(getter, name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, trainable=True, collections=None,
                    caching_device=None, partitioner=None, rename=None, use_resource=None,
                    synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, **_):  # fmt: skip
    scope, slash, short = name.rpartition("/")
    return model_variable(
        scope + slash + rename.get(short, short),
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        collections=collections,
        trainable=trainable,
        caching_device=caching_device,
        partitioner=partitioner,
        custom_getter=getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )
