"""Names that programs take from inside TensorFlow's modules of training."""

from __future__ import annotations

from everflow.contrib.framework.remapping import load_embedding_initializer as _load_embedding_initializer
from everflow.formats.bundle import index_name
from everflow.framework.errors import NotFoundError
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, get_collection, get_default_graph
from everflow.ops import array
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.variable import Variable, _all_saveable_objects
from everflow.ops.vocabulary_remapping import load_and_remap_matrix as _load_and_remap_matrix
from everflow.ops.vocabulary_remapping import load_and_remap_matrix_initializer as _load_and_remap_matrix_initializer
from everflow.platform.signatures import takes
from everflow.protos.saver_pb2 import SaverDef
from everflow.train.checkpoint_state import checkpoint_exists as checkpoint_exists_internal
from everflow.train.checkpoint_state import write_state as update_checkpoint_state_internal
from everflow.train.device_setter import _RoundRobin as _RoundRobinStrategy
from everflow.train.eval_step import get_or_create_eval_step as _get_or_create_eval_step
from everflow.train.evaluation import StopAfterNEvalsHook as _StopAfterNEvalsHook
from everflow.train.evaluation import evaluate_once as _evaluate_once
from everflow.train.importing import import_meta_graph_with_elements as _import_meta_graph_with_return_elements
from everflow.train.importing import saver_for_imported as _create_saver_from_imported_meta_graph
from everflow.train.saver import Saver
from everflow.train.saver_graph import named
from everflow.train.tracking import names_in_object_checkpoint
from everflow.train.warm_starting import VocabInfo, _start_with_vocabulary
from everflow.train.warm_starting import _variables_by_name as _get_grouped_variables

__all__ = [
    "_create_saver_from_imported_meta_graph",
    "checkpoint_exists_internal",
    "_import_meta_graph_with_return_elements",
    "saver_from_object_based_checkpoint",
    "update_checkpoint_state_internal",
    "_RoundRobinStrategy",
    "_StopAfterNEvalsHook",
    "_evaluate_once",
    "_get_grouped_variables",
    "_get_latest_eval_step_value",
    "_get_or_create_eval_step",
    "object_graph_key_mapping",
    "_get_saver_or_default",
    "_get_var_info",
    "_infer_var_name",
    "_load_and_remap_matrix",
    "_load_and_remap_matrix_initializer",
    "_load_embedding_initializer",
    "_prefix_to_checkpoint_path",
    "_warm_start_var_with_vocab",
]


def _get_saver_or_default() -> Saver:
    """The Saver of the default graph; one of all variables, kept for later, where there is none."""
    found = get_collection(GraphKeys.SAVERS)
    if len(found) > 1:
        raise RuntimeError(f"The collection {GraphKeys.SAVERS!r} has {len(found)} savers: say which is meant")
    if found:
        return found[0]
    made = Saver(sharded=True, allow_empty=True)
    get_default_graph().add_to_collection(GraphKeys.SAVERS, made)
    return made


def _get_latest_eval_step_value(update_ops):
    """How many batches an evaluation has seen, read after some ops have run."""
    with control_dependencies(list(update_ops.values()) if isinstance(update_ops, dict) else update_ops):
        return array.identity(_get_or_create_eval_step().read_value())


def _prefix_to_checkpoint_path(prefix: str, format_version: int) -> str:
    """The file by which one knows that a checkpoint of this name is there."""
    return index_name(prefix) if format_version == SaverDef.V2 else prefix


def _infer_var_name(var) -> str:
    """The name in checkpoints of a variable in a list, or of the one that it has the parts of."""
    return next(iter(named(var)), "")


def _get_var_info(var, prev_tensor_name=None):
    """(name in checkpoints, variable or list of its parts)."""
    if isinstance(var, PartitionedVariable):
        var = list(var)
    parts = [var] if isinstance(var, Variable) else var
    if not isinstance(parts, list) or not all(isinstance(part, Variable) for part in parts):
        raise TypeError(f"var is a Variable, a list of the parts of one or a PartitionedVariable, not {var!r}")
    if len(named(parts)) != 1:
        raise TypeError(f"var has parts of several variables: {var}")
    return prev_tensor_name or _infer_var_name(parts), var


@takes(
    """var, current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path, previous_vocab_size=-1,
    current_oov_buckets=0, prev_tensor_name=None, initializer=None, axis=0"""
)
def _warm_start_var_with_vocab(var, prev_ckpt, prev_tensor_name, initializer, axis, **vocabulary):
    """Let a variable start with the rows of a checkpoint that its words had there."""
    new, size, old = (vocabulary[key] for key in ("current_vocab_path", "current_vocab_size", "prev_vocab_path"))
    if not (new and size and prev_ckpt and old):
        raise ValueError(
            "Invalid args: a start with a vocabulary must provide all of current_vocab_path and _size, prev_ckpt, prev_vocab_path"
        )
    name, found = _get_var_info(var, prev_tensor_name)
    sizes = vocabulary["current_oov_buckets"], old, vocabulary["previous_vocab_size"]
    info = VocabInfo(new, size, *sizes, backup_initializer=initializer, axis=axis)
    _start_with_vocabulary(found if isinstance(found, list) else [found], prev_ckpt, name, info)


def object_graph_key_mapping(checkpoint_path):
    """{a variable's name in the graph: its key} of an object-based checkpoint."""
    found = names_in_object_checkpoint(checkpoint_path)
    if found is None:
        raise NotFoundError(None, None, f"{checkpoint_path} holds variables by their names, not by objects")
    return found


def saver_from_object_based_checkpoint(
    checkpoint_path, var_list=None, builder=None, names_to_keys=None, cached_saver=None
):
    """A Saver that restores variables, by the names they had, from an object-based checkpoint.

    Args:
        checkpoint_path: The checkpoint.
        var_list: The variables; all of the graph if None.
        builder: What makes the Saver's nodes.
        names_to_keys: {a variable's name: its key}, where that is known.
        cached_saver: A Saver that this made for the same variables before.

    Returns:
        The Saver.

    Raises:
        ValueError: If the checkpoint holds variables by their names.
        NotFoundError: If it lacks one of the variables.
    """
    keys = names_in_object_checkpoint(checkpoint_path) if names_to_keys is None else names_to_keys
    if keys is None:
        raise ValueError(f"{checkpoint_path} holds variables by their names, not by objects")
    variables = named(_all_saveable_objects() if var_list is None else var_list)
    missing = sorted(set(variables) - set(keys))
    if missing:
        raise NotFoundError(None, None, f"{checkpoint_path} has no variables that were called {missing}")
    return cached_saver or Saver({keys[name]: v for name, v in variables.items()}, builder=builder)
