"""Datasets that one op parses, as TensorFlow's graphs have them."""

import numpy as np

import everflow as tf
from everflow.framework import raw_ops as raw


def test_features_come_in_the_order_of_their_keys():
    example = tf.train.Example()
    example.features.feature["b"].float_list.value.extend([1.0, 2.0])
    example.features.feature["a"].bytes_list.value.append(b"word")
    batch = [example.SerializeToString(), tf.train.Example().SerializeToString()]
    with tf.Graph().as_default(), tf.Session() as session:
        source = tf.data.Dataset.from_tensors(batch)
        variant = raw.ParseExampleDataset(
            source._variant_tensor,
            np.int64(1),
            [tf.constant([5.0, 6.0])],
            sparse_keys=["a"],
            dense_keys=["b"],
            sparse_types=[tf.string],
            dense_shapes=[[2]],
            output_types=[tf.variant, tf.float32],
            output_shapes=[None, [None, 2]],
        )
        words, numbers = raw.DatasetToSingleElement(
            variant, output_types=[tf.variant, tf.float32], output_shapes=[None, [None, 2]]
        )
        found = raw.DeserializeSparse(words, dtype=tf.string)
        (indices, values, shape), dense = session.run([found, numbers])
    assert dense.tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert values.tolist() == [b"word"] and indices.tolist() == [[0, 0]] and shape.tolist() == [2, 1]


def test_elements_that_their_last_component_wants():
    with tf.Graph().as_default(), tf.Session() as session:
        source = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [False, True, False]))
        shapes = {"output_types": [tf.int32], "output_shapes": [[]]}
        wanted = raw.FilterByLastComponentDataset(source._variant_tensor, **shapes)
        assert session.run(raw.DatasetToSingleElement(wanted, **shapes)) == [2]
