"""Gradients of embeddings on TPUs, by way of small variables that stand for the tables."""

from __future__ import annotations

import collections

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import get_default_graph
from everflow.ops.tpu.functions import gradients_of_table
from everflow.ops.variables.scope import get_variable
from everflow.ops.variables.variable import variables_initializer

_COLLECTION = "tpu_embedding_dummy_table_variables"


def get_gradients_through_compute_gradients(optimizer, loss, activations):
    """{feature: the gradient of a loss by its activations}."""
    found = optimizer.compute_gradients(loss, list(activations.values()))
    return collections.OrderedDict(zip(activations, (gradient for gradient, _ in found), strict=True))


def create_dummy_table_variables(tpu_embedding):
    """{table: a variable of one number that stands for it}, and the operation that initializes them.

    Optimizers ask for gradients of variables; those of activations are caught on the way to these.
    """
    variables = collections.OrderedDict()
    for table_id, table in enumerate(tpu_embedding.table_to_features_dict):
        variables[table] = get_variable(
            f"tpu_embedding_dummy_table_variable_{table}",
            dtype=dtypes.float32,
            shape=[1],
            use_resource=True,
            trainable=True,
            collections=[_COLLECTION],
        )
        lookups = tpu_embedding.table_to_features_dict[table]
        gradients_of_table(get_default_graph(), table_id)[:] = [None] * len(lookups)
    return variables, variables_initializer(list(variables.values()), name=f"{_COLLECTION}_init")


def hook_dummy_table_variables_to_activations(tpu_embedding, activations, dummy_table_variables):
    """{feature: its activations, whose gradients are caught}."""
    hooked = collections.OrderedDict()
    for table_id, (table, features) in enumerate(tpu_embedding.table_to_features_dict.items()):
        for lookup_id, feature in enumerate(features):
            hooked[feature] = raw.TPUEmbeddingActivations(
                embedding_variable=dummy_table_variables[table],
                sliced_activations=activations[feature],
                table_id=table_id,
                lookup_id=lookup_id,
            )
    return hooked


def get_gradients_through_dummy_table_variables(tpu_embedding):
    """{feature: the gradient of its activations that was caught}."""
    caught = collections.OrderedDict()
    for table_id, (table, features) in enumerate(tpu_embedding.table_to_features_dict.items()):
        gradients = gradients_of_table(get_default_graph(), table_id)
        if not gradients or any(gradient is None for gradient in gradients):
            raise ValueError(f"Not all activations of table {table!r} have gradients: some of them may not be used.")
        caught.update(zip(features, gradients, strict=True))
    return caught
