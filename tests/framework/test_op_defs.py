"""What op types there are, and what the table of them says."""

import pytest

import everflow as tf
from everflow.framework import attributes, op_defs
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef


@pytest.fixture
def registered():
    """What a test registers is gone afterwards."""
    yield
    op_defs._defs.pop("OfOnesOwn", None)


def test_every_definition_holds_together():
    """Whatever an argument's type depends on is an attribute of the right kind; defaults are what their kinds take."""
    kinds = {"type_attr": "type", "number_attr": "int", "type_list_attr": "list(type)"}
    wrong = []
    for name in op_defs._facts():
        definition = op_defs.get(name)
        for arg in (*definition.inputs, *definition.outputs):
            named = {key: getattr(arg, key) for key in kinds if getattr(arg, key)}
            wrong += [
                (name, arg.name) for key, attr in named.items() if definition.attr_by_name[attr].type != kinds[key]
            ]
            if (arg.type is not None) + bool(arg.type_attr) + bool(arg.type_list_attr) != 1:
                wrong.append((name, arg.name, "its type is not said once"))
        for attr in definition.attrs:
            if attr.has_default and attr.type not in ("tensor", "shape", "list(shape)", "func", "list(func)"):
                if attributes.convert(attr.type, attr.default, name, attr.name) != attr.default:
                    wrong.append((name, attr.name, attr.default))
            if attr.has_default and attr.allowed is not None:
                given = attr.default if isinstance(attr.default, list) else [attr.default]
                wrong += [(name, attr.name, value) for value in given if value not in attr.allowed]
    assert not wrong


def test_all_of_tensorflows_op_types_are_there_with_those_that_contrib_loads():
    assert len(op_defs._facts()) == 1284 + 62
    assert {"MatMul", "VarHandleOp", "While", "LSTMBlockCell"} <= set(op_defs.names())


def test_what_is_known_of_a_few():
    product = op_defs.get("MatMul")
    assert [a.name for a in product.inputs] == ["a", "b"] and product.inferred_attrs() == {"T"}
    assert product.attr_by_name["transpose_a"].default is False and not product.is_stateful
    assert op_defs.get("RandomUniform").is_stateful and op_defs.get("AddN").is_aggregate
    assert op_defs.get("Assign").changes_refs and op_defs.get("Assign").allows_uninitialized_input
    assert op_defs.get("AddN").inputs[0].is_list and op_defs.get("AddN").attr_by_name["N"].minimum == 1
    assert op_defs.get("BatchNormWithGlobalNormalization").deprecated_at == 9
    assert op_defs.get("Conv2D").attr_by_name["padding"].allowed == (b"SAME", b"VALID", b"EXPLICIT")


def test_a_type_that_is_not_there():
    assert op_defs.find("NoSuchOp") is None
    with pytest.raises(tf.errors.NotFoundError, match="NoSuchOp"):
        op_defs.get("NoSuchOp")


def test_a_type_of_ones_own(registered):
    mine = OpDef("OfOnesOwn", (ArgDef("x", type_attr="T"),), (ArgDef("y", type_attr="T"),), (AttrDef("T", "type"),))
    op_defs.register(mine)
    assert op_defs.get("OfOnesOwn") is mine and "OfOnesOwn" in op_defs.names()
    with tf.Graph().as_default() as graph:
        assert graph.create_op("OfOnesOwn", [tf.constant(1.0)]).outputs[0].dtype == tf.float32
    for again in (mine, OpDef("MatMul")):
        with pytest.raises(tf.errors.AlreadyExistsError):
            op_defs.register(again)
