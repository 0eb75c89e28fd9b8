"""Giving variables values at the start: from arrays, and from checkpoints of other models."""

from __future__ import annotations

import numpy as np

from everflow.contrib.framework.variables import get_unique_variable, get_variable_full_name
from everflow.ops.array.constants import placeholder
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.platform import logging
from everflow.protos.saver_pb2 import SaverDef
from everflow.train.checkpoint_reader import NewCheckpointReader
from everflow.train.saver import Saver


def _assigned(variables_and_values):
    """(op that assigns what placeholders are fed, {placeholder: the value in the variable's shape})."""
    feed, assignments = {}, []
    for variable, value in variables_and_values:
        name = "placeholder/" + variable.op.name
        source = placeholder(dtype=variable.dtype.base_dtype, shape=variable.get_shape(), name=name)
        assignments.append(variable.assign(source))
        feed[source] = np.asarray(value).reshape(source.get_shape().as_list())
    return group(*assignments), feed


def assign_from_values(var_names_to_values):
    """(op, feed): running the op with the feed gives variables, by name, these values.

    The values stay out of the graph, so large ones don't grow it.
    """
    return _assigned((get_unique_variable(name), value) for name, value in var_names_to_values.items())


def assign_from_values_fn(var_names_to_values):
    """A function of a session that gives variables, by name, these values."""
    assign_op, feed_dict = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign_op, feed_dict)


def _by_name(var_list):
    """{name in the checkpoint: variables}, from a list or a dict."""
    if isinstance(var_list, (list, tuple)):
        grouped: dict[str, list] = {}
        for variable in var_list:
            grouped.setdefault(get_variable_full_name(variable), []).append(variable)
        return grouped
    result = {}
    for name, given in var_list.items():
        result[name] = list(given) if isinstance(given, (list, PartitionedVariable)) else [given]
    return result


def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
    """(op, feed): running the op with the feed gives variables the values of a checkpoint.

    `var_list` has variables, or is a dict from names in the checkpoint; values of the same size are reshaped.
    """
    return _assigned(_read(NewCheckpointReader(model_path), _by_name(var_list), ignore_missing_vars))


def _read(reader, variables_of_name, ignore_missing_vars):
    """(variable, what a checkpoint has for it)."""
    for name, variables in variables_of_name.items():
        if not reader.has_tensor(name):
            message = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(message)
            logging.warning(message)
            continue
        whole = np.asarray(reader.get_tensor(name))
        for variable in variables:
            part, shape = _part_of(whole, variable), variable.get_shape()
            if part.size != shape.num_elements():
                raise ValueError(f"{name} of the checkpoint can't be reshaped from {part.shape} to {shape}")
            yield variable, part


def _part_of(whole, variable):
    """What a part of a partitioned variable takes of the whole value."""
    info = getattr(variable, "_save_slice_info", None)
    if not info:
        return whole
    return whole[tuple(slice(start, start + size) for start, size in zip(info.var_offset, info.var_shape))]


def assign_from_checkpoint_fn(model_path, var_list, ignore_missing_vars=False, reshape_variables=False):
    """A function of a session that restores variables from a checkpoint; None where nothing is left to restore.

    >>> init_fn = assign_from_checkpoint_fn("model.ckpt", get_variables_to_restore(exclude=["logits"]))
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = NewCheckpointReader(model_path)
        given = var_list if isinstance(var_list, dict) else {get_variable_full_name(v): v for v in var_list}
        missing = [name for name in given if not reader.has_tensor(name)]
        for name in missing:
            logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        var_list = {name: variable for name, variable in given.items() if name not in missing}
    if not var_list:
        logging.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables, write_version=SaverDef.V1)
    return lambda session: saver.restore(session, model_path)
