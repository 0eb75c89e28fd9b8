"""Static shapes of datasets, iterators and their elements."""

import pytest

import everflow as tf
from everflow.framework import op_defs
from everflow.ops.io import datasets

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize("name", datasets._SCALARS)
def test_handles_are_scalars(name):
    definition = op_defs.get(name)
    assert len(definition.outputs) == 1 and not definition.outputs[0].is_list


@pytest.mark.parametrize("name", datasets._ELEMENTS)
def test_elements_have_the_shapes_that_were_declared(name):
    assert "output_shapes" in {attr.name for attr in op_defs.get(name).attrs}


def test_shapes_of_elements():
    data = tf.data.Dataset.from_tensor_slices({"x": tf.zeros([4, 3]), "n": tf.zeros([4], tf.int32)}).batch(2)
    element = data.make_one_shot_iterator().get_next()
    assert {k: v.shape.as_list() for k, v in element.items()} == {"x": [None, 3], "n": [None]}
    assert data._variant_tensor.shape.as_list() == []
    exact = tf.data.Dataset.range(4).batch(2, drop_remainder=True).make_one_shot_iterator()
    assert exact.get_next().shape.as_list() == [2] and exact.string_handle().shape.as_list() == []


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.raw_ops.TFRecordDataset(filenames=[["a"]], compression_type="", buffer_size=0),
        lambda: tf.data.experimental.CsvDataset("x", [tf.constant([1, 2])]),
        lambda: tf.data.experimental.SqlDataset("sqlite", ["a", "b"], "select 1", (tf.int32,)),
        lambda: tf.raw_ops.ExperimentalSleepDataset(
            input_dataset=tf.data.Dataset.range(2)._variant_tensor,
            sleep_microseconds=[1, 2],
            output_types=[tf.int64],
            output_shapes=[[]],
        ),
    ],
    ids=["files", "defaults of columns", "a database's name", "an experimental twin"],
)
def test_settings_of_the_wrong_rank_are_refused(build):
    with pytest.raises(ValueError):
        build()


def test_a_dataset_is_one_scalar_however_its_op_is_called():
    data = tf.data.Dataset.range(2)._variant_tensor
    like = {"output_types": [tf.int64], "output_shapes": [[]]}
    assert tf.raw_ops.ExperimentalUnbatchDataset(input_dataset=data, **like).shape.as_list() == []
    assert [t.shape.as_list() for t in tf.raw_ops.AnonymousIteratorV2(**like)] == [[], []]
