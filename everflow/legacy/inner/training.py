"""Names that programs take from inside TensorFlow's modules of training."""

from __future__ import annotations

from everflow.contrib.framework.remapping import load_embedding_initializer as _load_embedding_initializer
from everflow.formats.bundle import index_name
from everflow.framework import dtypes
from everflow.framework.errors import NotFoundError
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection, get_default_graph
from everflow.ops.variables.initializers import ones_initializer
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.saveables import SaveableObject, SaveSpec
from everflow.ops.variables.scope import AUTO_REUSE, get_variable, variable_scope
from everflow.ops.variables.variable import Variable
from everflow.ops.vocabulary_remapping import load_and_remap_matrix_initializer as _load_and_remap_matrix_initializer
from everflow.platform.signatures import takes
from everflow.protos.saver_pb2 import SaverDef
from everflow.train.device_setter import _RoundRobin as _RoundRobinStrategy
from everflow.train.eval_step import get_or_create_eval_step as _get_or_create_eval_step
from everflow.train.evaluation import StopAfterNEvalsHook as _StopAfterNEvalsHook
from everflow.train.evaluation import evaluate_once as _evaluate_once
from everflow.train.saver import Saver
from everflow.train.saver_graph import RefVariableSaveable, ResourceVariableSaveable, SaverGraph, named
from everflow.train.tracking import names_in_object_checkpoint
from everflow.train.warm_starting import VocabInfo, _start_with_vocabulary
from everflow.train.warm_starting import _variables_by_name as _get_grouped_variables

__all__ = [
    "BaseSaverBuilder",
    "BulkSaverBuilder",
    "_RoundRobinStrategy",
    "_StopAfterNEvalsHook",
    "_evaluate_once",
    "_get_grouped_variables",
    "_get_or_create_eval_step",
    "object_graph_key_mapping",
    "_get_saver_or_default",
    "_get_var_info",
    "_infer_var_name",
    "_load_and_remap_matrix_initializer",
    "_load_embedding_initializer",
    "_prefix_to_checkpoint_path",
    "_warm_start_var_with_vocab",
    "get_or_create_steps_per_run_variable",
]
_STEPS_PER_RUN = "steps_per_run"
_HOOKS = "hooks"


class BaseSaverBuilder:
    """What makes the nodes of a Saver, as its `builder`; and the classes of things to save, under their old names."""

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = RefVariableSaveable
    ResourceVariableSaveable = ResourceVariableSaveable

    def __init__(self, write_version: int = SaverDef.V2) -> None:
        self._write_version = write_version

    @takes(
        """names_to_saveables, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
        name=None, restore_sequentially=False, filename="model" """
    )
    def build(self, names_to_saveables, reshape, sharded, name, filename, **limits) -> SaverDef:
        """Make the nodes that save and restore; returns their names."""
        made = SaverGraph(self._write_version, reshape).build(names_to_saveables, sharded, name, filename)
        made.max_to_keep = limits["max_to_keep"]
        made.keep_checkpoint_every_n_hours = limits["keep_checkpoint_every_n_hours"]
        return made


BulkSaverBuilder = BaseSaverBuilder


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


def _prefix_to_checkpoint_path(prefix: str, format_version: int) -> str:
    """The file by which one knows that a checkpoint of this name is there."""
    return index_name(prefix) if format_version == SaverDef.V2 else prefix


def get_or_create_steps_per_run_variable():
    """The local variable that says how many steps a call of `run` makes, 1 unless a program sets another number."""
    graph = get_default_graph()
    collection = f"{_HOOKS}_{_STEPS_PER_RUN}"
    found = graph.get_collection(collection)
    if len(found) > 1:
        raise RuntimeError(f"The collection {collection!r} has {len(found)} variables, where one is wanted")
    if found:
        return found[0]
    with graph.as_default(), graph.name_scope(None), variable_scope(_HOOKS, reuse=AUTO_REUSE, use_resource=True):
        return get_variable(
            _STEPS_PER_RUN,
            [],
            dtypes.int32,
            ones_initializer(),
            trainable=False,
            collections=[collection, GraphKeys.LOCAL_VARIABLES],
        )


def _infer_var_name(var) -> str:
    """The name in checkpoints of a variable in a list, or of the one that it has the parts of."""
    return next(iter(named(var)), "")


def _get_var_info(var, prev_tensor_name=None):
    """(name in checkpoints, variable or list of its parts)."""
    if isinstance(var, PartitionedVariable):
        var = list(var)
    parts = [var] if isinstance(var, Variable) else var
    if not isinstance(parts, list) or not all(isinstance(part, Variable) for part in parts):
        raise TypeError(f"var must be a variable, a partitioned one or a list of its parts, not {var!r}")
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
        raise ValueError("Starting with a vocabulary needs current_vocab_path and _size, prev_ckpt and prev_vocab_path")
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
