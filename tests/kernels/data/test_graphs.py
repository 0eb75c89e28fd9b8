"""Datasets written as GraphDefs, as TensorFlow writes them, and read again."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.experimental.optimization import non_serializable
from everflow.protos.graph_pb2 import GraphDef

D = tf.data.Dataset

pytestmark = pytest.mark.usefixtures("own_graph")


def written(dataset, sess, **options):
    return sess.run(tf.raw_ops.DatasetToGraph(input_dataset=dataset._variant_tensor, **options))


def read(data, structure):
    variant = tf.raw_ops.DatasetFromGraph(graph_def=tf.placeholder_with_default(data, []))
    return tf.data.experimental.from_variant(variant, structure)


def elements(dataset, sess):
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    following, found = iterator.get_next(), []
    sess.run(iterator.initializer)
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            found.append(sess.run(following).tolist())
    return found


def test_nodes_are_those_that_tensorflow_writes(sess):
    graph_def = GraphDef.FromString(written(D.range(5).map(lambda x: x * 2).batch(2), sess))
    assert [(n.op, n.name, list(n.input)) for n in graph_def.node] == [
        ("Const", "Const/_0", []),
        ("Const", "Const/_1", []),
        ("Const", "Const/_2", []),
        ("RangeDataset", "RangeDataset/_3", ["Const/_0", "Const/_1", "Const/_2"]),
        ("MapDataset", "MapDataset/_4", ["RangeDataset/_3"]),
        ("Const", "Const/_5", []),
        ("Const", "Const/_6", []),
        ("BatchDatasetV2", "BatchDatasetV2/_7", ["MapDataset/_4", "Const/_5", "Const/_6"]),
        ("_Retval", "dataset", ["BatchDatasetV2/_7"]),
    ]
    names = "Targuments f output_shapes output_types preserve_cardinality use_inter_op_parallelism"
    assert sorted(graph_def.node[4].attr) == names.split()
    assert len(graph_def.library.function) == 1


def pipelines():
    yield D.range(5).map(lambda x: x * 2).batch(2), tf.TensorSpec([None], tf.int64)
    yield D.from_tensor_slices(np.arange(6.0)).shuffle(10, seed=3).repeat(2), tf.TensorSpec([], tf.float64)
    yield (
        D.range(3).interleave(lambda x: D.from_tensors(x).repeat(2).map(lambda y: y + x), cycle_length=2),
        tf.TensorSpec([], tf.int64),
    )
    yield D.from_tensor_slices([b"a b", b"c"]).map(lambda s: tf.strings.length(s)), tf.TensorSpec([], tf.int32)
    yield (
        D.zip((D.range(3), D.range(3))).map(lambda a, b: tf.cond(a > 1, lambda: a, lambda: -b)),
        tf.TensorSpec([], tf.int64),
    )


@pytest.mark.parametrize("number", range(5))
def test_what_was_written_gives_the_same_elements(number, sess):
    dataset, structure = list(pipelines())[number]
    data, expected = written(dataset, sess), elements(dataset, sess)
    assert elements(read(data, structure), sess) == expected
    with tf.Graph().as_default(), tf.Session() as other:  # whose own functions may have the same names
        D.range(2).map(lambda x: x - 1)
        assert elements(read(data, structure), other) == expected


def test_functions_with_state_are_refused_unless_they_are_let_through(sess):
    dataset = D.range(3).map(lambda x: tf.random.uniform([]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="RandomUniform is stateful"):
        written(dataset, sess)
    assert written(dataset, sess, stateful_whitelist=["RandomUniform"])


def test_what_is_no_graph_of_a_dataset_is_refused(sess):
    spec = tf.TensorSpec([], tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse GraphDef"):
        elements(read(b"junk", spec), sess)
    with pytest.raises(tf.errors.NotFoundError, match="not found"):
        elements(read(b"", spec), sess)


def test_what_says_that_it_is_not_serializable_is_not_written(sess):
    with pytest.raises(tf.errors.UnimplementedError):
        written(D.range(3).apply(non_serializable()), sess)
