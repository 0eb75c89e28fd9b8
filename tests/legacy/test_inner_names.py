"""Names that only paths into TensorFlow's tree lead to: what they do."""

import unittest

import numpy as np
import pytest

import everflow as tf
import everflow.as_tensorflow


def test_test_ops_are_op_types_like_any_other():
    from tensorflow.python.framework import test_ops

    with tf.Graph().as_default() as graph:
        a, b = test_ops.two_int_outputs()
        test_ops.int_input(a, name="user")
        assert test_ops.simple_struct(0) == [] and test_ops.None_().type == "None"
        with pytest.raises(NotImplementedError, match="before 8"):
            test_ops.old()
        graph_def = graph.as_graph_def()
    assert b.dtype == tf.int32 and b.shape.rank is None
    with tf.Graph().as_default():
        (user,) = tf.import_graph_def(graph_def, return_elements=["user"], name="")
        assert user.inputs[0].name == "TwoIntOutputs:0"


def test_an_op_def_library():
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.framework import op_def_library, test_ops

    library = op_def_library.OpDefLibrary()
    good = op_def_pb2.OpDef(name="Unheard", input_arg=[{"name": "a", "type": 1}])
    library.add_op(good)
    with pytest.raises(RuntimeError, match="already"):
        library.add_op(good)
    with pytest.raises(TypeError, match="isn't there"):
        library.add_op(op_def_pb2.OpDef(name="Bad", input_arg=[{"name": "a", "type": 1, "number_attr": "N"}]))
    with pytest.raises(TypeError, match="0 ways"):
        library.add_op(op_def_pb2.OpDef(name="Bad", input_arg=[{"name": "a"}]))
    with tf.Graph().as_default():
        with pytest.raises(RuntimeError, match="'Nobody'"):
            library.apply_op("Nobody")
        with pytest.raises(ValueError, match="registered"):
            library.apply_op("Unheard", a=1.0)
        apply = test_ops._op_def_lib.apply_op
        assert apply("ReservedAttr", range_=2).get_attr("range") == 2
        with pytest.raises(TypeError, match="follows"):
            apply("NPolymorphicIn", a=[1, 2], T=tf.float32)


def test_subscribe():
    from tensorflow.python.framework.subscribe import subscribe

    seen = []

    def note(tensor):
        return tf.py_func(lambda value: seen.append(float(value)), [tensor], [], name="note")

    with tf.Graph().as_default():
        c = tf.add(1.0, 2.0, name="c")
        d = tf.negative(c, name="d")
        with tf.control_dependencies([c]):
            n = tf.no_op("n")
        new = subscribe(c, [note])
        assert new.name == "c/subscription/Identity:0" and subscribe(c, [note]) is new and subscribe(new, note) is new
        assert list(d.op.inputs) == [new] and n.control_inputs == [new.op] and len(new.op.control_inputs) == 3
        with tf.Session() as sess:
            assert sess.run(d) == -3.0 and seen == [3.0] * 3
        with pytest.raises(TypeError, match="'c'"):
            subscribe("c", note)


def test_composite_values_one_behind_the_other():
    from tensorflow.python.framework import composite_tensor_utils as composites

    sparse = tf.SparseTensorValue(np.array([[0, 1]]), np.array([5]), (1, 2))
    both = composites.append_composite_tensor(sparse, sparse)
    assert both.indices.tolist() == [[0, 1], [1, 1]] and both.dense_shape == (2, 2)
    assert sparse.indices.tolist() == [[0, 1]]
    ragged = tf.ragged.constant_value([[1], [2, 3]])
    assert composites.append_composite_tensor(ragged, ragged).to_list() == [[1], [2, 3], [1], [2, 3]]
    assert composites.get_shape(sparse) == (1, 2) and composites.is_composite_or_composite_value(ragged)
    with pytest.raises(RuntimeError, match="RaggedTensorValue"):
        composites.append_composite_tensor(sparse, ragged)


def test_tests_for_each_combination():
    from tensorflow.python.framework import test_combinations

    ran = []

    @test_combinations.generate(
        test_combinations.times(test_combinations.combine(a=[1, 2]), test_combinations.combine(b="x"))
    )
    class Each(unittest.TestCase):
        def test_it(self, a, b):
            ran.append((a, b))

    unittest.defaultTestLoader.loadTestsFromTestCase(Each).run(unittest.TestResult())
    assert ran == [(1, "x"), (2, "x")] and hasattr(Each, "test_it_test_a_2_b_x") and not hasattr(Each, "test_it")
    with pytest.raises(ValueError, match="common"):
        test_combinations.times(test_combinations.combine(a=1), test_combinations.combine(a=2))


def test_registries():
    from tensorflow.python.framework import kernels, op_def_registry, registry

    assert op_def_registry.get_registered_ops()["MatMul"].input_arg[0].name == "a"
    assert [kernel.op for kernel in kernels.get_registered_kernels_for_op("MatMul").kernel] == ["MatMul"]
    assert not kernels.get_registered_kernels_for_op("Nobody").kernel
    mine = registry.Registry("mine")
    mine.register(len)
    assert mine.lookup("len") is len and list(mine.list()) == ["len"]
    with pytest.raises(KeyError, match="len"):
        mine.register(max, "len")
    with pytest.raises(LookupError, match="nobody"):
        mine.lookup("nobody")


def test_where_things_on_a_stack_come_from():
    from tensorflow.python.framework import traceable_stack

    stack = traceable_stack.TraceableStack()
    stack.push_obj("first")
    stack.push_obj("second")
    first, second = reversed(list(stack.peek_traceable_objs()))
    assert second.lineno == first.lineno + 1 and first.filename == __file__
    assert list(stack.copy().peek_objs()) == ["second", "first"] and stack.pop_obj() == "second"
    assert first.set_filename_and_line_from_caller(offset=1000) == first.HEURISTIC_USED


def test_the_mark_of_tensorflow_2(monkeypatch):
    from tensorflow.python import tf2

    monkeypatch.setattr(tf2, "_force_enable", None)
    assert not tf2.enabled()
    monkeypatch.setenv("TF2_BEHAVIOR", "1")
    assert tf2.enabled()
    tf2.disable()
    assert not tf2.enabled()


def test_the_context_of_eager_execution():
    from tensorflow.python.eager import context

    found = context.context()
    assert found is context.context() and not found.executing_eagerly() and not found.is_async()
    with context.eager_mode():
        assert found.executing_eagerly() and found.scope_name == "" and found.device_name == ""
        with tf.name_scope("a"), found.device("/cpu:0"):
            assert found.scope_name == "a/" and found.device_name.endswith("task:0/device:CPU:0")
    with context.device_policy(context.DEVICE_PLACEMENT_WARN):
        assert found.device_policy == 1
    assert found.device_policy == context.DEVICE_PLACEMENT_SILENT


def test_modules_show_the_modules_they_import():
    from tensorflow.python.ops import array_ops, rnn

    assert rnn.array_ops is array_ops and rnn.rnn_cell_impl.LSTMCell is tf.nn.rnn_cell.LSTMCell
    with pytest.raises(ModuleNotFoundError, match="cannot import name 'nosuch' from 'tensorflow.python.ops.array_ops'"):
        from tensorflow.python.ops.array_ops import nosuch
    with pytest.raises(ModuleNotFoundError, match="No module named 'tensorflow.python.nosuch'"):
        from tensorflow.python import nosuch  # noqa: F401
