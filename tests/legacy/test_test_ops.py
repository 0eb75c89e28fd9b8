"""TensorFlow's test ops, and tests that are made of combinations of arguments."""

import re

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.protos import graph_pb2, versions_pb2

# isort: split
from tensorflow.python.framework import test_combinations, test_ops, traceable_stack


def test_some_run_and_say_what_they_are_of():
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as sess:
        plain = test_ops.kernel_label()
        with graph._kernel_label_map({"KernelLabel": "overload_1"}):
            labelled = test_ops.kernel_label()
        with graph._kernel_label_map({"KernelLabel": "nobody's"}):
            unknown = test_ops.kernel_label()
        assert sess.run([plain, labelled]) == [b"My label is: default", b"My label is: overload_1"]
        with pytest.raises(tf.errors.InvalidArgumentError, match="label"):
            sess.run(unknown)
        assert sess.run(test_ops.graph_def_version()) == graph.graph_def_versions.producer
        assert sess.run(test_ops.device_placement_op()).endswith(b"CPU:0")
        assert sess.run(test_ops.test_attr(T=tf.float32)) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
            sess.run(test_ops.test_attr(T=tf.float64))


def test_resources_are_there_once_they_are_made():
    with tf.Graph().as_default(), tf.Session() as sess:
        handle = test_ops.stub_resource_handle_op(container="a", shared_name="b")
        assert not sess.run(test_ops.resource_initialized_op(handle))
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(test_ops.resource_using_op(handle))
        sess.run(test_ops.resource_create_op(handle))
        with pytest.raises(tf.errors.AlreadyExistsError):
            sess.run(test_ops.resource_create_op(handle))
        sess.run(test_ops.resource_using_op(handle))
        assert sess.run(test_ops.resource_initialized_op(handle))


def test_ops_past_their_time():
    with tf.Graph().as_default():
        with pytest.raises(NotImplementedError, match="before version 8"):
            test_ops.old()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(graph_pb2.GraphDef(versions=versions_pb2.VersionDef(producer=7)))
        sess.run(test_ops.old())
        saved = graph.as_graph_def()
    saved.versions.producer = 20
    with tf.Graph().as_default() as graph, pytest.raises(tf.errors.UnimplementedError):
        tf.import_graph_def(saved)
    assert graph.graph_def_versions.producer > 20  # what can't be imported leaves the graph as it is


def test_lists_without_elements():
    lib = test_ops._op_def_lib
    with tf.Graph().as_default():
        assert lib.apply_op("OutTypeList", T=[]) == [] and lib.apply_op("SimpleStruct", n_a=0) == []
        with pytest.raises(TypeError, match="None is no tensor"):
            lib.apply_op("TypeList", a=[1, None])
        ref = lib.apply_op("RefOut", T=tf.int32)
        user = lib.apply_op("RefIn", a=ref)
        assert [t.name for t in user._input_types] == ["int32_ref"]
        with pytest.raises(TypeError, match="mutable"):
            tf.get_default_graph().create_op("RefIn", [tf.constant(1)], [])


def test_names_of_combinations_have_no_addresses():
    class Thing:
        pass

    @test_combinations.generate(test_combinations.combine(a=[Thing(), len], b=[Thing(), 0.5]))
    class Cases:
        def test_it(self, a, b):
            pass

    names = [name for name in vars(Cases) if name.startswith("test_it")]
    assert len(names) == 4 and "test_it_test_a_builtinfunctionlen_b_05" in names
    assert not any(re.search("0x", name) for name in names) and any("Thingobjectat0_b" in name for name in names)
    stack = traceable_stack.TraceableStack()
    stack.push_obj(1)
    assert len(stack) == 1
