"""Names inside TensorFlow's `keras.utils`."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.legacy.inner import keras_utils as names


def test_generic_names():
    assert (names.to_list(3), names.to_list([3])) == ([3], [3])
    assert names.make_batches(5, 2) == [(0, 2), (2, 4), (4, 5)]
    assert names.has_arg(lambda x, y=1: x, "y") and not names.has_arg(lambda x, **more: x, "z")
    assert names.has_arg(lambda x, **more: x, "z", accept_all=True)
    assert names.is_all_none([None, {"a": None}]) and not names.is_all_none([1])
    with pytest.raises(ValueError, match="x"):
        names.check_for_unexpected_keys("a", {"x": 1}, ["y"])
    with pytest.raises(TypeError):
        names.validate_kwargs({"a": 1}, {"b"})


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_what_outputs_of_convolutions_see(padding):
    mask = names.conv_kernel_mask((3, 2), 2, 1, padding)
    assert mask.ndim == 4 and mask[:, :, 0, 0].any()
    pairs = set(names.conv_kernel_idxs((3, 2), (2, 2), (1, 1), padding, 1, 1, "channels_last"))
    flat = mask.reshape(6, -1)
    assert pairs == {(int(o), int(i)) for i, o in zip(*np.nonzero(flat))}
    with pytest.raises(ValueError, match="one length"):
        names.conv_kernel_mask((3,), (2, 2), 1, padding)


def test_structures():
    assert names.map_structure_with_atomic(lambda x: isinstance(x, int), lambda x: x + 1, {"a": [1, (2,)]}) == {
        "a": [2, (3,)]
    }
    with pytest.raises(ValueError, match="neither"):
        names.map_structure_with_atomic(lambda x: False, lambda x: x, "x")
    wrapped = names.convert_inner_node_data([["a", 0, 0, {}]], wrap=True)
    assert wrapped[0].as_list() == ["a", 0, 0, {}] and names.convert_inner_node_data(wrapped) == [["a", 0, 0, {}]]
    assert names.constant_value(tf.constant(True)) and names.constant_value(tf.placeholder(tf.bool)) is None
    assert names.are_all_symbolic_tensors([tf.constant(1)]) and names.is_tensor_or_variable(tf.constant(1))


def test_metrics_by_enumerations():
    assert names.AUCCurve.from_str("PR") is names.AUCCurve.PR
    assert names.AUCSummationMethod.from_str("Minoring".lower()) is names.AUCSummationMethod.MINORING
    with pytest.raises(ValueError, match="ROC"):
        names.AUCCurve.from_str("x")
    assert names.parse_init_thresholds(None, 0.3) == [0.3]
    with eager_mode():
        count = tf.Variable([0.0, 0.0])
        cell = names.ConfusionMatrix.TRUE_POSITIVES
        names.update_confusion_matrix_variables(
            {cell: count}, tf.constant([1.0, 0.0, 1.0]), tf.constant([0.3, 0.9, 0.8]), [0.2, 0.5]
        )
        assert count.numpy().tolist() == [2.0, 1.0]
        with pytest.raises(ValueError, match="cells"):
            names.update_confusion_matrix_variables({"x": count}, tf.ones(1), tf.ones(1), [0.5])
        ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
        (flat, _), _ = names.ragged_assert_compatible_and_get_flat_values([ragged, ragged])
        assert flat.shape.as_list() == [3, 1]
        with pytest.raises(TypeError, match="ragged"):
            names.ragged_assert_compatible_and_get_flat_values([ragged, tf.ones(3)])


def test_sources_of_batches(tmp_path):
    class Pieces(tf.keras.utils.Sequence):
        def __getitem__(self, index):
            return index

        def __len__(self):
            return 2

    again = names.iter_sequence_infinite(Pieces())
    assert [next(again) for _ in range(3)] == [0, 1, 0]
    assert names.is_generator_or_sequence(Pieces()) and not names.is_generator_or_sequence([1])
    (tmp_path / "f").write_bytes(b"x")
    assert len(names._hash_file(str(tmp_path / "f"))) == 64
