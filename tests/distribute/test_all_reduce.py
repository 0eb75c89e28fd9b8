"""How tensors are reduced on all devices: the values, and the way of the data between devices."""

import numpy as np
import pytest

import everflow as tf
from everflow.distribute import all_reduce
from everflow.ops import math

RING = ["Split", "Split", "Add", "Add", "Identity", "Identity", "ConcatV2", "ConcatV2"]


def tensors(count, shape=(9,), tasks=0):
    made = []
    for number in range(count):
        name = f"/job:worker/replica:0/task:{number * tasks // count}/device:GPU:{number}" if tasks else None
        with tf.device(name):
            made.append(tf.constant(np.arange(np.prod(shape)).reshape(shape) + number, tf.float32))
    return made


def kinds(graph):
    return [op.type for op in graph.get_operations() if op.type != "Const"]


def test_rings_start_elsewhere_for_each_subchunk():
    assert all_reduce._ring_permutations(1, 1, [0, 1, 2]) == ([[2, 0, 1]], [[0, 1, 2]])
    before, rank = all_reduce._ring_permutations(2, 2, [0, 1, 2, 3])
    assert before == [[7, 0, 1, 2, 3, 4, 5, 6], [3, 0, 5, 2, 7, 4, 1, 6]]
    assert rank == [[0, 1, 2, 3, 4, 5, 6, 7], [2, 3, 0, 1, 6, 7, 4, 5]]


@pytest.mark.parametrize("length, pieces", [(10, 1), (10, 3), (10, 7), (12, 4), (9, 8)])
def test_vectors_are_split_and_put_together(length, pieces):
    with tf.Graph().as_default(), tf.Session() as sess:
        parts, padding = all_reduce._padded_split(tf.range(length), pieces)
        whole = all_reduce._strip_padding([tf.concat(parts, 0)], padding)[0]
        assert len({part.shape[0].value for part in parts}) == 1 and len(parts) == pieces
        assert sess.run(whole).tolist() == list(range(length))
        ragged = sess.run(all_reduce._ragged_split(tf.range(length), pieces))
        assert np.concatenate(ragged).tolist() == list(range(length))


@pytest.mark.parametrize("count, workers, subchunks", [(2, 1, 1), (4, 1, 2), (4, 2, 1), (3, 1, 3)])
@pytest.mark.parametrize("shape", [(9,), (2, 3)])
def test_a_ring_reduces(count, workers, subchunks, shape):
    with tf.Graph().as_default(), tf.Session() as sess:
        given = tensors(count, shape)
        ring = all_reduce.build_ring_all_reduce(given, workers, subchunks, range(count // workers), math.add, tf.square)
        wanted = np.square(sum(sess.run(given)))
        for found in sess.run(ring):
            np.testing.assert_array_equal(found, wanted)


def test_the_way_of_data():
    with tf.Graph().as_default() as graph:
        all_reduce.build_ring_all_reduce(tensors(2, (8,)), 1, 1, [0, 1], math.add)
        assert kinds(graph) == RING
    with tf.Graph().as_default() as graph:
        all_reduce.build_recursive_hd_all_reduce(tensors(2, (8,)), math.add)
        assert kinds(graph) == ["Split", "Split", "Add", "Add", "ConcatV2", "ConcatV2"]
    with tf.Graph().as_default() as graph:
        all_reduce.build_shuffle_all_reduce(tensors(3), ["/cpu:0", "/cpu:0"], math.add_n)
        assert kinds(graph) == ["SplitV"] * 3 + ["AddN"] * 2 + ["ConcatV2"] * 3


def test_workers_first():
    gatherers = ["/job:worker/task:0/cpu:0", "/job:worker/task:1/cpu:0"]
    with tf.Graph().as_default() as graph:
        made = all_reduce.build_nccl_then_ring(tensors(4, (8,), tasks=2), 1, math.add)
        assert kinds(graph)[:6] == ["NcclAllReduce", "NcclAllReduce", "Identity"] * 2
        assert kinds(graph)[6:14] == RING and [each.device[-1] for each in made] == list("0123")
    with tf.Graph().as_default() as graph:
        made = all_reduce.build_shuffle_then_shuffle(tensors(4, (8,), tasks=2), gatherers, gatherers[:1], math.add_n)
        assert kinds(graph).count("AddN") == 3 and len(made) == 4
        with pytest.raises(ValueError):
            all_reduce.build_shuffle_then_ring(tensors(4, tasks=2), gatherers[:1], 1, math.add_n, math.add)
    with tf.Graph().as_default(), pytest.raises(ValueError):
        all_reduce.build_nccl_all_reduce(tensors(2, tasks=1), math.subtract)
