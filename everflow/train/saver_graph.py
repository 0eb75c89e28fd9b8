"""The nodes by which a Saver saves and restores: what to save under which names, and the ops that do it."""

from __future__ import annotations

import uuid

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import internal_convert_to_tensor
from everflow.framework.devices import DeviceSpec, canonical_name
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import control_dependencies, device, name_scope
from everflow.framework.shapes import TensorShape, scalar, unknown_shape
from everflow.framework.static_values import known_value
from everflow.ops import array
from everflow.ops.array.constants import constant, placeholder_with_default
from everflow.ops.control_flow.grouping import group, with_dependencies
from everflow.ops.lookup.static import LookupInterface
from everflow.ops.variables import assign as state
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.saveables import SaveableObject, SaveSpec
from everflow.ops.variables.variable import Variable
from everflow.protos.saver_pb2 import SaverDef

_REF_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable")


def _first(tensors, shapes):
    """The one tensor that is restored, in the shape that is wanted where there is one."""
    return tensors[0] if shapes is None else array.reshape(tensors[0], shapes[0])


class RefVariableSaveable(SaveableObject):
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
            with device("/device:CPU:0"):
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
                raise ValueError(f"{name} is the name of a whole variable and of parts of another one")
            found[name].append(item)
        else:
            name = item.name if isinstance(item, PartitionedVariable) else _saved_name(item)
            if name in found:
                raise ValueError(f"Two variables have the same name, {name}: give them others in a dict")
            found[name] = item
    return found


def _saved_name(item):
    """The name of a variable, or of a tensor that is one's value, in checkpoints."""
    if _is_resource(item):
        return item._shared_name if item.handle.is_eager else item.handle.op.name
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
        for saveable in _saveables(name, things[name]):
            if id(saveable.op) in seen:
                raise ValueError(f"One variable can't be saved under two names; {saveable.name} is the second")
            seen[id(saveable.op)] = saveable
            found.append(saveable)
    return found


def _saveables(name, thing):
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
            if info is None:
                raise ValueError(f"Slices must all be slices: {part}")
            if info.full_name != name and isinstance(thing, PartitionedVariable) is False and not _same_whole(parts):
                raise ValueError(f"Parts saved as {name} belong to different variables, one of them {info.full_name}")
            if _is_resource(part) and not part.handle.is_eager:
                yield ResourceSliceSaveable(part, info.spec, name)
            elif _is_resource(part):
                yield ResourceVariableSaveable(part, info.spec, name)
            else:
                yield RefVariableSaveable(
                    part.value(), info.spec, name, op=internal_convert_to_tensor(part, as_ref=True)
                )
    elif _is_resource(thing):
        yield ResourceVariableSaveable(thing, "", name)
    else:
        tensor = internal_convert_to_tensor(thing, as_ref=True)
        if not _comes_from_variable(tensor):
            raise TypeError(f"`var_list` must hold variables only; {thing} is none")
        info = thing._get_save_slice_info() if isinstance(thing, Variable) else None
        if info is not None:
            yield RefVariableSaveable(thing.value(), info.spec, name, op=tensor)
        else:
            yield RefVariableSaveable(tensor, "", name)


def _same_whole(parts):
    return len({p._get_save_slice_info().full_name for p in parts}) == 1


def _on_cpu(name):
    spec = DeviceSpec.from_string(name or "")
    spec.merge_from(DeviceSpec(device_type="CPU", device_index=0))
    return spec.to_string()


class SaverGraph:
    """Builds the ops of one Saver; returns their names as a SaverDef."""

    def __init__(self, write_version, reshape=False):
        self.write_version = write_version
        self.reshape = reshape

    def build(self, var_list, sharded, name, filename, build_save=True, build_restore=True) -> SaverDef:
        saveables = saveables_of(var_list)
        with name_scope(name, "save", [s.op for s in saveables]):
            tensor = placeholder_with_default(filename, shape=(), name="filename")
            # Graphs of all times call it "Const".
            tensor = placeholder_with_default(tensor, shape=(), name="Const")
            saved = restored = None
            if sharded:
                shards = by_device(saveables)
                if build_save:
                    saved = self._save_shards(tensor, shards)
                if build_restore:
                    restored = self._restore_shards(tensor, shards)
            else:
                if build_save:
                    saved = self._save(tensor, saveables)
                if build_restore:
                    restored = self._restore(tensor, saveables, "restore_all")
        names = {"save_tensor_name": saved, "restore_op_name": restored}
        names = {field: made.name if made is not None else "" for field, made in names.items()}
        return SaverDef(filename_tensor_name=tensor.name, **names, sharded=sharded, version=self.write_version)

    def _save(self, filename, saveables):
        return with_dependencies([self._save_op(filename, saveables)], filename)

    def _save_op(self, filename, saveables):
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names, slices, tensors = [s.name for s in specs], [s.slice_spec for s in specs], [s.tensor for s in specs]
        if self.write_version == SaverDef.V2:
            return raw.SaveV2(prefix=filename, tensor_names=names, shape_and_slices=slices, tensors=tensors)
        return raw.SaveSlices(
            filename=filename, tensor_names=names, shapes_and_slices=slices, data=tensors, name="save"
        )

    def _save_shards(self, prefix, shards):
        merges = self.write_version == SaverDef.V2
        # Shards are written beside, and merged into one checkpoint when all are there.
        base = raw.StringJoin(inputs=[prefix, f"_temp_{uuid.uuid4().hex}/part"]) if merges else prefix
        count = constant(len(shards), name="num_shards")
        saves, prefixes = [], []
        for shard, (where, saveables) in enumerate(shards):
            with device(_on_cpu(where) if merges else where):
                prefixes.append(raw.ShardedFilename(basename=base, shard=shard, num_shards=count))
                saves.append(self._save(prefixes[-1], saveables).op)
        with control_dependencies(saves):
            if not merges:
                return raw.ShardedFilespec(basename=prefix, num_shards=count)
            with device(_on_cpu(shards[-1][0] if shards else "")):
                merged = raw.MergeV2Checkpoints(
                    checkpoint_prefixes=prefixes, destination_prefix=prefix, delete_old_dirs=True
                )
                with control_dependencies([merged]):
                    return array.identity(prefix)

    def save_at_once(self, path, var_list) -> str:
        """Save when executing eagerly; returns the path."""
        return self._save(constant(path), saveables_of(var_list)).numpy().decode()

    def restore_at_once(self, path, var_list):
        """Restore when executing eagerly."""
        self._restore(constant(path), saveables_of(var_list), None)

    def save_objects(self, prefix, saveables):
        """The ops of an object-based checkpoint: a shard for each device, all of it done on CPUs."""
        with device("/cpu:0"):
            aside = raw.StringJoin(inputs=[prefix, f"_temp_{uuid.uuid4().hex}/part"])
        shards = by_device(saveables)
        count = constant(len(shards), name="num_shards")
        saves, prefixes = [], []
        for shard, (where, held) in enumerate(shards):
            with device(_on_cpu(where)):
                prefixes.append(raw.ShardedFilename(basename=aside, shard=shard, num_shards=count))
                saves.append(self._save_op(prefixes[-1], held))
        with device(_on_cpu(shards[-1][0])):
            with control_dependencies(saves):
                merged = raw.MergeV2Checkpoints(
                    checkpoint_prefixes=prefixes, destination_prefix=prefix, delete_old_dirs=True
                )
            with control_dependencies([merged]):
                return array.identity(prefix)

    def _restore(self, filename, saveables, name):
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with device("cpu:0"):
            names, slices = [s.name for s in specs], [s.slice_spec for s in specs]
            tensors = raw.RestoreV2(filename, names, slices, dtypes=[s.dtype for s in specs])
        assigns, position = [], 0
        for saveable in saveables:
            shapes = None
            if self.reshape:
                shapes = [
                    s.tensor.shape if s.tensor.shape.is_fully_defined() else array.shape(s.tensor)
                    for s in saveable.specs
                ]
            mine = tensors[position : position + len(saveable.specs)]
            position += len(mine)
            assigns.append(saveable.restore(mine, shapes))
        return group(*assigns, name=name)

    def _restore_shards(self, filename, shards):
        restored = []
        for where, saveables in shards:
            with device(where):
                restored.append(self._restore(filename, saveables, "restore_shard"))
        return group(*restored, name="restore_all")


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


@shape_rule("RestoreV2")
def _restore_shapes(op):
    op.inputs[1].shape.merge_with(op.inputs[2].shape)
    slices = known_value(op.inputs[2])
    if slices is None:
        return [unknown_shape() for _ in op.outputs]
    if slices.size != len(op.outputs):
        raise ValueError(f"{slices.size} names with slices are to be read as {len(op.outputs)} tensors")
    return [_slice_shape(s.decode()) for s in slices.ravel().tolist()]


@shape_rule("RestoreSlice")
def _restore_slice_shape(op):
    wanted = known_value(op.inputs[2])
    return [unknown_shape() if wanted is None else _slice_shape(wanted.item().decode())]


def _slice_shape(text):
    """The static shape of what a slice specification names."""
    if not text:
        return unknown_shape()
    *sizes, part = text.split(" ")
    if not sizes:
        raise ValueError(f"A slice is named by sizes and their parts, as in '4 5 0,2:-'; got {text!r}")
    lengths = [p.split(",")[1] if "," in p else size for p, size in zip(part.split(":"), sizes)]
    return TensorShape([int(n) for n in lengths])


@shape_rule("ShardedFilename", "ShardedFilespec")
def _scalar_text(op):
    return scalar()
