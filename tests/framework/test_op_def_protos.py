"""Op definitions as protos, and back."""

import everflow as tf
from everflow.framework import op_def_protos, op_defs
from everflow.framework.op_defs import AttrDef


def comparable(attr: AttrDef):
    """An attribute without the identity of its shapes and tensors."""
    default = attr.default
    if attr.type == "shape" and default is not None:
        default = default.sizes
    if attr.type == "tensor" and default is not None:
        default = default.array.tolist()
    if attr.type == "list(shape)" and default is not None:
        default = [shape.sizes for shape in default]
    if isinstance(default, float):  # a proto holds 32 bits of it
        default = f"{default:.6g}"
    if attr.type == "list(float)" and default is not None:
        default = [f"{number:.6g}" for number in default]
    return attr.name, attr.type, default, attr.has_default, attr.allowed, attr.minimum


def test_every_definition_comes_back():
    differing = []
    for name in op_defs._facts():
        definition = op_defs.get(name)
        again = op_def_protos.from_proto(op_def_protos.to_proto(definition))
        same = (again.name, again.inputs, again.outputs) == (name, definition.inputs, definition.outputs)
        flags = ("is_stateful", "is_commutative", "is_aggregate", "allows_uninitialized_input")
        same &= all(getattr(again, flag) == getattr(definition, flag) for flag in flags)
        if not same or list(map(comparable, again.attrs)) != list(map(comparable, definition.attrs)):
            differing.append(name)
    assert not differing


def test_an_operation_shows_its_definition():
    with tf.Graph().as_default():
        proto = tf.matmul([[1.0]], [[1.0]]).op.op_def
    assert [a.name for a in proto.input_arg] == ["a", "b"] and proto.input_arg[0].type_attr == "T"
    transposed = next(a for a in proto.attr if a.name == "transpose_a")
    assert transposed.type == "bool" and transposed.HasField("default_value") and not transposed.default_value.b
    assert op_def_protos.to_proto(op_defs.get("MatMul")) is proto  # made once
    assert op_def_protos.to_proto(op_defs.get("BatchNormWithGlobalNormalization")).deprecation.version == 9
