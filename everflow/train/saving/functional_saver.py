"""Savers without nodes of their own in the graph: each call of `save` or `restore` draws its ops, or runs them at once.

Object-based checkpoints are written so: a shard for each device, all of it done on CPUs, merged in the end.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, device
from everflow.framework.type_specs import TensorSpec
from everflow.ops import array
from everflow.ops.array.constants import constant, placeholder
from everflow.ops.functions.traced import function
from everflow.protos.saver_pb2 import SaverDef
from everflow.train.saver_graph import BulkSaverBuilder, aside, by_device, on_cpu


class SingleDeviceSaver:
    """Saves things of one device to one file."""

    def __init__(self, saveable_objects):
        self._saveable_objects = list(saveable_objects)

    def save(self, file_prefix):
        """The op that writes them; None when executing eagerly, as it has run."""
        return BulkSaverBuilder().save_op(file_prefix, self._saveable_objects)

    def restore(self, file_prefix):
        """{name: op} of what gives them the values of a file."""
        specs = [spec for saveable in self._saveable_objects for spec in saveable.specs]
        with device("/cpu:0"):
            names, slices, types = [s.name for s in specs], [s.slice_spec for s in specs], [s.dtype for s in specs]
            tensors = iter(raw.RestoreV2(convert_to_tensor(file_prefix), names, slices, dtypes=types))
        ops = {}
        for saveable in self._saveable_objects:
            with device(saveable.device):
                ops[saveable.name] = saveable.restore([next(tensors) for _ in saveable.specs], restored_shapes=None)
        return ops


class MultiDeviceSaver:
    """Saves things of many devices to one checkpoint, a shard for each device."""

    def __init__(self, saveable_objects):
        self._savers = [(where, SingleDeviceSaver(held)) for where, held in by_device(list(saveable_objects))]

    def save(self, file_prefix):
        """The op that has written everything when it has run; None when executing eagerly."""
        with device("/cpu:0"):
            base = aside(file_prefix)
        count = constant(len(self._savers), name="num_shards")
        saves, prefixes = [], []
        for shard, (where, saver) in enumerate(self._savers):
            with device(on_cpu(where)):
                prefixes.append(sharded_filename(base, shard, count))
                saves.append(saver.save(prefixes[-1]))
        with control_dependencies([op for op in saves if op is not None]), device(on_cpu(self._savers[-1][0])):
            return raw.MergeV2Checkpoints(
                checkpoint_prefixes=prefixes, destination_prefix=file_prefix, delete_old_dirs=True
            )

    def restore(self, file_prefix):
        """{name: op} of what gives the things the values of a checkpoint."""
        ops: dict = {}
        for where, saver in self._savers:
            with device(where):
                ops.update(saver.restore(file_prefix))
        return ops

    def save_and_name(self, file_prefix):
        """The path, once everything is written to it."""
        merged = self.save(file_prefix)
        with device(on_cpu(self._savers[-1][0])), control_dependencies([] if merged is None else [merged]):
            return array.identity(file_prefix)

    def to_proto(self):
        """Draw functions that save and restore, and a call of each; the SaverDef that names the calls."""
        path = TensorSpec([], dtypes.string)

        @function(input_signature=(path,), autograph=False)
        def _traced_save(file_prefix):
            merged = self.save(file_prefix)
            with device("cpu:0"), control_dependencies([merged]):
                return array.identity(file_prefix)

        @function(input_signature=(path,), autograph=False)
        def _traced_restore(file_prefix):
            restored = self.restore(file_prefix)
            with device("cpu:0"), control_dependencies(list(restored.values())):
                return array.identity(file_prefix)

        filename = placeholder(dtypes.string, [], name="saver_filename")
        saved, restored = _traced_save(filename), _traced_restore(filename)
        return SaverDef(
            filename_tensor_name=filename.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.op.name,
            version=SaverDef.V2,
        )


def sharded_filename(filename_tensor, shard, num_shards):
    """The name of one of several files."""
    return raw.ShardedFilename(basename=filename_tensor, shard=shard, num_shards=num_shards)
