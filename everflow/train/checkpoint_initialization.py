"""`tf.train.init_from_checkpoint`: variables whose initial values come out of a checkpoint."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.scopes import device
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.store import get_variable_store
from everflow.ops.variables.variable import Variable
from everflow.platform import logging
from everflow.train.checkpoint_reader import checkpoint_path, load_checkpoint
from everflow.train.saver_graph import saveables_of


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Replace the initializers of variables, so that these start with what a checkpoint holds.

    Args:
        ckpt_dir_or_file: A checkpoint, or a folder, whose newest one is meant.
        assignment_map: Variables, or their names, by names in the checkpoint; or scopes (`new/`) by scopes (`old/`).

    Returns:
        None.

    Raises:
        ValueError: If a name or shape doesn't fit.

    Example:
        >>> v = tf.get_variable("old", [], initializer=tf.ones_initializer())
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "./model")
        >>> new = tf.get_variable("new", [])
        >>> tf.train.init_from_checkpoint(path, {"old": new})
        >>> sess.run(new.initializer)
        np.float32(1.0)
        >>> sess.run(new)
        np.float32(1.0)
    """
    path = checkpoint_path(ckpt_dir_or_file)
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    stored = get_variable_store()._vars
    for tensor_name, target in sorted(assignment_map.items(), key=lambda item: item[0]):
        variable = _parts_or_variable(target) if not isinstance(target, str) else _stored(target, stored)
        if variable is not None:
            _check_fit(variable, tensor_name, shapes, ckpt_dir_or_file)
            _start_from(variable, path, tensor_name)
        else:
            _start_scope_from(target, tensor_name, stored, shapes, ckpt_dir_or_file, path)


def _parts_or_variable(target):
    """A variable, or the list of its parts; TypeError for anything else."""
    if isinstance(target, PartitionedVariable):
        return target._get_variable_list()
    if isinstance(target, Variable) or isinstance(target, list) and all(isinstance(v, Variable) for v in target):
        return target
    raise TypeError(f"A variable, a list of its parts or a name is wanted, not {target!r}")


def _stored(name, stored):
    """The variable that `get_variable` made under a name, its parts as a list, or None."""
    if name in stored:
        return stored[name]
    parts = []
    while f"{name}/part_{len(parts)}" in stored:
        parts.append(stored[f"{name}/part_{len(parts)}"])
    return parts or None


def _check_fit(variable, tensor_name, shapes, given):
    if tensor_name not in shapes:
        raise ValueError(f"Tensor {tensor_name} is not found in {given} checkpoint {shapes}")
    if isinstance(variable, Variable) and not variable.get_shape().is_compatible_with(shapes[tensor_name]):
        raise ValueError(
            f"{variable.name} is {variable.get_shape()}, which doesn't match with shape of {tensor_name}: the checkpoint "
            f"has {shapes[tensor_name]}"
        )


def _start_scope_from(scope, tensor_scope, stored, shapes, given, path):
    """Map every variable of a scope to the tensor of the same name in a scope of the checkpoint."""
    prefix = scope[: scope.rindex("/")] if "/" in scope else ""
    if not tensor_scope.endswith("/"):
        raise ValueError(
            f"In an assignment map a scope stands for a scope, as in {{'scope/': 'other_scope/'}}: {prefix!r} ends in a slash, and "
            f"{tensor_scope!r} must, too"
        )
    names = {name.split("/part_")[0] for name in stored if not prefix or name.startswith(prefix + "/")}
    for name in sorted(names):
        tensor_name = name[len(prefix) :]
        if scope != "/":
            tensor_name = tensor_name[1:]
        if tensor_scope != "/":
            tensor_name = tensor_scope + tensor_name
        tensor_name = tensor_name.rstrip("/")
        if tensor_name not in shapes:
            raise ValueError(f"Tensor {tensor_name} ({name} in {scope}) is not found in {given} checkpoint")
        _start_from(_stored(name, stored), path, tensor_name)


def _start_from(variable, path, tensor_name):
    """Give a variable, or each of its parts, a new initializer."""
    if isinstance(variable, Variable):
        # Under a strategy a variable may have copies, each with an initializer of its own.
        for copy in getattr(variable, "values", (variable,)):
            _set_initializer(copy, path, tensor_name, "")
        return
    whole = variable[0]._get_save_slice_info().full_name
    for part in variable:
        info = part._get_save_slice_info()
        if info.full_name != whole:
            raise ValueError(f"Parts of different variables can't be one: {whole} and {info.full_name}")
        _set_initializer(part, path, tensor_name, info.spec)


def _set_initializer(variable, path, tensor_name, slice_spec):
    # Beside the variable, but on a CPU: an accelerator reads no files, and colocating would bind the variable.
    with device(variable.device), device("/cpu:0"):
        (value,) = raw.RestoreV2(
            path, [tensor_name], [slice_spec], dtypes=[variable.dtype.base_dtype], name="checkpoint_initializer"
        )
    (saveable,) = saveables_of([variable])
    variable._initializer_op = saveable.restore([value], restored_shapes=None)
    value.set_shape(variable.shape)
    variable._initial_value = value
    logging.debug("Initialize variable %s from checkpoint %s with %s", variable.name, path, tensor_name)
