"""The nodes by which a Saver saves and restores: what to save under which names, and the ops that do it."""

from __future__ import annotations

import uuid

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import internal_convert_to_tensor
from everflow.framework.devices import DeviceSpec, canonical_name
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, device, executing_eagerly, name_scope
from everflow.ops import array
from everflow.ops.array.constants import constant, placeholder_with_default
from everflow.ops.control_flow.grouping import group, with_dependencies
from everflow.ops.lookup.static import LookupInterface
from everflow.ops.variables import assign as state
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.saveables import SaveableObject, SaveSpec
from everflow.ops.variables.variable import Variable
from everflow.platform.signatures import takes
from everflow.protos.saver_pb2 import SaverDef

# The attribute of a variable, or of what is saved like one, in object-based checkpoints.
VARIABLE_VALUE = "VARIABLE_VALUE"
_REF_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable")


def _first(tensors, shapes):
    """The one tensor that is restored, in the shape that is wanted where there is one."""
    return tensors[0] if shapes is None else array.reshape(tensors[0], shapes[0])


class ReferenceVariableSaveable(SaveableObject):
    """A ref variable, or a part of a partitioned one."""

    def __init__(self, var, slice_spec, name, op=None):
        super().__init__(var if op is None else op, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors, restored_shapes):
        tensor = _first(restored_tensors, restored_shapes)
        return state.assign(
            self.op, tensor, validate_shape=restored_shapes is None and self.op.shape.is_fully_defined()
        )


class ResourceVariableSaveable(SaveableObject):
    """A resource variable, by its read; restoring assigns to its handle."""

    def __init__(self, var, slice_spec, name):
        self.var = var
        if isinstance(var, Tensor):  # what a variable's read gave
            self.handle_op = var.op.inputs[0] if var.op.type == "ReadVariableOp" else var
            spec = SaveSpec(var, slice_spec, name, dtype=var.dtype, device=self.handle_op.device)
            super().__init__(var, [spec], name)
            return
        self.handle_op = var.handle
        # What was made eagerly has no read to run again: its value is taken when it is saved.
        read = var.read_value if var.handle.is_eager else var._graph_element
        op = var.handle if var.handle.is_eager else read
        super().__init__(op, [SaveSpec(read, slice_spec, name, dtype=var.dtype, device=var.handle.device)], name)

    def restore(self, restored_tensors, restored_shapes):
        tensor = _first(restored_tensors, restored_shapes)
        self.var.shape.assert_is_compatible_with(tensor.shape)
        # Copied where the variable is, so that the assignment itself crosses no device.
        with device(self.handle_op.device):
            tensor = array.identity(tensor)
        return raw.AssignVariableOp(resource=self.handle_op, value=tensor)


class ResourceSliceSaveable(ResourceVariableSaveable):
    """A part of a partitioned resource variable, read anew for each use, on the CPU: that makes it a shard apart."""

    def __init__(self, var, slice_spec, name):
        super().__init__(var, slice_spec, name)
        self.op = var.handle

        def read():
            with device(var.handle.device):
                value = var.read_value()
            with device(on_cpu(var.handle.device)):
                return array.identity(value)

        self.specs = [SaveSpec(read, slice_spec, name, dtype=var.dtype, device=var.handle.device)]

    def shard(self):
        """The device by which it is grouped with others."""
        return self.specs[0].tensor.device


def _is_resource(var):
    return (
        hasattr(var, "handle") and isinstance(getattr(var, "handle", None), Tensor) and hasattr(var, "_graph_element")
    )


def named(var_list):
    """{name: variable, list of parts, or saveable} from a list, tuple, set or dict of things to save."""
    if isinstance(var_list, dict):
        return dict(var_list)
    if not isinstance(var_list, (list, tuple, set, frozenset)):
        raise TypeError(f"`var_list` must be a list of variables, or a dict of them by name, not {var_list}")
    found = {}
    for item in sorted(var_list, key=lambda v: v.name) if isinstance(var_list, (set, frozenset)) else var_list:
        if isinstance(item, SaveableObject):
            found[item.name] = item
        elif isinstance(item, LookupInterface):
            found[item.resource_handle._op_name] = item
        elif isinstance(item, Variable) and item._get_save_slice_info() is not None:
            name = item._get_save_slice_info().full_name
            if not isinstance(found.setdefault(name, []), list):
                raise ValueError(f"A whole variable and parts of another one have the same name: {name}")
            found[name].append(item)
        else:
            name = item.name if isinstance(item, PartitionedVariable) else _saved_name(item)
            if name in found:
                raise ValueError(f"Two variables have the same name: {name}. Give them others in a dict")
            found[name] = item
    return found


def _saved_name(item):
    """The name of a variable, or of a tensor that is one's value, in checkpoints."""
    if _is_resource(item):
        return item._shared_name if item.handle.is_eager else item.handle.op.name
    if hasattr(item, "_gather_saveables_for_checkpoint") and not isinstance(item, Variable):
        return item.name
    tensor = internal_convert_to_tensor(item, as_ref=True)
    if not _comes_from_variable(tensor):
        raise TypeError(f"Variable to save is not a Variable: {item}")
    return tensor.op.name


def _comes_from_variable(tensor):
    return isinstance(tensor, Tensor) and tensor.op.type in (*_REF_VARIABLES, "VarHandleOp", "ReadVariableOp")


def saveables_of(var_list) -> list[SaveableObject]:
    """What a list or dict of variables comes to, by name; TypeError or ValueError for what can't be saved."""
    found, seen = [], {}
    things = named(var_list)
    for name in sorted(things):
        if not isinstance(name, str):
            raise TypeError(f"The keys of `var_list` must be names in the checkpoint, as strings; {name!r} is none")
        for saveable in saveables_for(name, things[name]):
            if id(saveable.op) in seen:
                raise ValueError(f"{saveable.name} would be restored with two names: leave one out")
            seen[id(saveable.op)] = saveable
            found.append(saveable)
    return found


def saveables_for(name, thing):
    """What saving one variable, a partitioned one, or an object under a name comes to."""
    if hasattr(thing, "_saveable"):  # a variable that has copies on several devices
        yield thing._saveable(name)
    elif isinstance(thing, SaveableObject):
        yield thing
    elif isinstance(thing, LookupInterface):
        for make in thing._gather_saveables_for_checkpoint().values():
            yield make(name)
    elif isinstance(thing, (list, tuple, PartitionedVariable)):
        parts = list(thing)
        for part in parts:
            info = part._get_save_slice_info()
            if any(p._get_save_slice_info() is None for p in parts):
                raise ValueError(f"{name}: Slices must all be slices of a partitioned variable, not {parts}")
            if info.full_name != name and isinstance(thing, PartitionedVariable) is False and not _same_whole(parts):
                raise ValueError(f"Parts saved as {name} belong to different variables, one of them {info.full_name}")
            if _is_resource(part) and not part.handle.is_eager:
                yield ResourceSliceSaveable(part, info.spec, name)
            elif _is_resource(part):
                yield ResourceVariableSaveable(part, info.spec, name)
            else:
                yield ReferenceVariableSaveable(
                    part.value(), info.spec, name, op=internal_convert_to_tensor(part, as_ref=True)
                )
    elif _is_resource(thing):
        yield ResourceVariableSaveable(thing, "", name)
    elif hasattr(thing, "_gather_saveables_for_checkpoint") and not isinstance(thing, Variable):
        for attribute, maker in thing._gather_saveables_for_checkpoint().items():
            key = name if attribute == VARIABLE_VALUE else f"{name}_{attribute}"
            made = maker(name=key) if callable(maker) else maker
            yield from [made] if isinstance(made, SaveableObject) else saveables_for(key, made)
    else:
        tensor = internal_convert_to_tensor(thing, as_ref=True)
        if not _comes_from_variable(tensor):
            raise TypeError(f"`var_list` must hold variables only; {thing} is none")
        # A part of a variable that is given by itself, under a name, is saved as a whole.
        make = ReferenceVariableSaveable if tensor.op.type in _REF_VARIABLES else ResourceVariableSaveable
        yield make(tensor, "", name)


def _same_whole(parts):
    return len({p._get_save_slice_info().full_name for p in parts}) == 1


def on_cpu(name):
    """The device of a name's task that reads and writes files."""
    spec = DeviceSpec.from_string(name or "")
    spec.merge_from(DeviceSpec(device_type="CPU", device_index=0))
    return spec.to_string()


class BaseSaverBuilder:
    """Draws the ops of one Saver, and says in a SaverDef what they are called. Subclasses may save and restore by other
    ops; this one restores each thing by an op of its own.
    """

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = ReferenceVariableSaveable
    ResourceVariableSaveable = ResourceVariableSaveable

    def __init__(self, write_version: int = SaverDef.V2) -> None:
        self._write_version = write_version

    def save_op(self, filename_tensor, saveables):
        """The op that writes things to a file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names, slices, tensors = [s.name for s in specs], [s.slice_spec for s in specs], [s.tensor for s in specs]
        if self._write_version == SaverDef.V2:
            return raw.SaveV2(prefix=filename_tensor, tensor_names=names, shape_and_slices=slices, tensors=tensors)
        if self._write_version != SaverDef.V1:
            raise RuntimeError(f"A Saver writes format V1 or V2; {self._write_version} is neither")
        return raw.SaveSlices(
            filename=filename_tensor, tensor_names=names, shapes_and_slices=slices, data=tensors, name="save"
        )

    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        """The tensors of all things, in their order, as a file holds them."""
        # Ops that only read need no order among them, so `restore_sequentially` asks for nothing, in TensorFlow either.
        read = [self.restore_op(filename_tensor, saveable, preferred_shard) for saveable in saveables]
        return [tensor for tensors in read for tensor in tensors]

    def restore_op(self, filename_tensor, saveable, preferred_shard):
        """The tensors of one thing, as a file holds them; RestoreV2 knows the shards by itself."""
        return _read(filename_tensor, saveable.specs)

    def sharded_filename(self, filename_tensor, shard, num_shards):
        """The name of one of several files."""
        return raw.ShardedFilename(basename=filename_tensor, shard=shard, num_shards=num_shards)

    @takes(
        """names_to_saveables, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
        name=None, restore_sequentially=False, filename="model" """
    )
    def build(self, names_to_saveables, **settings) -> SaverDef:
        """Make the nodes that save and restore; returns their names."""
        return self._build_internal(names_to_saveables, **settings)

    @takes(
        """names_to_saveables, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
        name=None, restore_sequentially=False, filename="model", build_save=True, build_restore=True"""
    )
    def _build_internal(
        self,
        names_to_saveables,
        reshape,
        sharded,
        name,
        restore_sequentially,
        filename,
        build_save,
        build_restore,
        **limits,
    ):
        if not (build_save and build_restore) and not executing_eagerly():
            raise ValueError("Nodes that save and nodes that restore are made together: one SaverDef names both")
        saveables = saveables_of(names_to_saveables)
        saved = restored = None
        with name_scope(name, "save", [s.op for s in saveables]):
            tensor = placeholder_with_default(filename or "model", shape=(), name="filename")
            # Graphs of all times call it "Const".
            tensor = placeholder_with_default(tensor, shape=(), name="Const")
            groups = by_device(saveables) if sharded else None
            if build_save:
                saved = self._save_shards(tensor, groups) if sharded else self._save(tensor, saveables)
            if build_restore and sharded:
                restored = self._restore_shards(tensor, groups, reshape, restore_sequentially)
            elif build_restore:
                restored = self._restore(tensor, saveables, reshape, restore_sequentially, "restore_all")
        made = {"save_tensor_name": saved, "restore_op_name": restored}
        return SaverDef(
            filename_tensor_name=tensor.name,
            **{field: node.name for field, node in made.items() if node is not None},
            sharded=sharded,
            version=self._write_version,
            max_to_keep=limits["max_to_keep"] or 0,
            keep_checkpoint_every_n_hours=limits["keep_checkpoint_every_n_hours"],
        )

    def _save(self, filename, saveables):
        return with_dependencies([self.save_op(filename, saveables)], filename)

    def _save_shards(self, prefix, shards):
        merges = self._write_version == SaverDef.V2
        # Shards are written beside, and merged into one checkpoint when all are there.
        base = aside(prefix) if merges else prefix
        count = constant(len(shards), name="num_shards")
        saves, prefixes = [], []
        for shard, (where, saveables) in enumerate(shards):
            with device(on_cpu(where) if merges else where):
                prefixes.append(self.sharded_filename(base, shard, count))
                saves.append(self._save(prefixes[-1], saveables).op)
        with control_dependencies(saves):
            if not merges:
                return raw.ShardedFilespec(basename=prefix, num_shards=count)
            with device(on_cpu(shards[-1][0] if shards else "")):
                merged = raw.MergeV2Checkpoints(
                    checkpoint_prefixes=prefixes, destination_prefix=prefix, delete_old_dirs=True
                )
                with control_dependencies([merged]):
                    return array.identity(prefix)

    def save_at_once(self, path, var_list) -> str:
        """Save when executing eagerly; returns the path."""
        return self._save(constant(path), saveables_of(var_list)).numpy().decode()

    def restore_at_once(self, path, var_list, reshape=False):
        """Restore when executing eagerly."""
        self._restore(constant(path), saveables_of(var_list), reshape, False, None)

    def _restore(self, filename, saveables, reshape, restore_sequentially, name, preferred_shard=-1):
        tensors = self.bulk_restore(filename, saveables, preferred_shard, restore_sequentially)
        assigns, position = [], 0
        for saveable in saveables:
            shapes = None
            if reshape:
                shapes = [
                    s.tensor.shape if s.tensor.shape.is_fully_defined() else array.shape(s.tensor)
                    for s in saveable.specs
                ]
            mine = tensors[position : position + len(saveable.specs)]
            position += len(mine)
            assigns.append(saveable.restore(mine, shapes))
        return group(*assigns, name=name)

    def _restore_shards(self, filename, shards, reshape, restore_sequentially):
        restored = []
        for shard, (where, saveables) in enumerate(shards):
            with device(where):
                restored.append(
                    self._restore(filename, saveables, reshape, restore_sequentially, "restore_shard", shard)
                )
        return group(*restored, name="restore_all")

    def _GroupByDevices(self, saveables):
        return by_device(saveables)


class BulkSaverBuilder(BaseSaverBuilder):
    """Restores all things by one op; what a Saver takes that is given no other."""

    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        """The tensors of all things, in their order, as a file holds them."""
        with device("cpu:0"):
            return _read(filename_tensor, [spec for saveable in saveables for spec in saveable.specs])


def _read(filename, specs):
    names, slices = [s.name for s in specs], [s.slice_spec for s in specs]
    return raw.RestoreV2(filename, names, slices, dtypes=[s.dtype for s in specs])


def aside(prefix):
    """Where the shards of a checkpoint are written until all are there."""
    return raw.StringJoin(inputs=[prefix, f"_temp_{uuid.uuid4().hex}/part"])


def by_device(saveables):
    """[(device, saveables)] in the order of devices' names."""
    groups: dict[str, list] = {}
    for saveable in saveables:
        sliced = isinstance(saveable, ResourceSliceSaveable)
        names = {canonical_name(saveable.shard() if sliced else spec.device) for spec in saveable.specs}
        if len(names) != 1:
            raise ValueError(f"One device must hold all of {saveable.name}, which is spread over {sorted(names)}")
        groups.setdefault(names.pop(), []).append(saveable)
    return sorted(groups.items())
