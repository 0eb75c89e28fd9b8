"""The nodes that branches and loops are made of."""

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.ops.control_flow import primitives

pytestmark = pytest.mark.usefixtures("own_graph")


def test_only_one_side_of_a_switch_is_live(sess):
    off, on = primitives.switch(tf.constant(5), tf.placeholder_with_default(True, []))
    merged, index = primitives.merge([off * 2, on * 3])
    assert sess.run([merged, index]) == [15, 1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(off)


def test_composites_are_switched_part_by_part(sess):
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([4]))
    off, on = primitives.switch(slices, tf.placeholder_with_default(False, []))
    assert isinstance(off, tf.IndexedSlices) and isinstance(on, tf.IndexedSlices)
    merged = primitives.merge([off, on])
    assert isinstance(merged.output, tf.IndexedSlices)
    assert sess.run([merged.output.values, merged.output.indices, merged.value_index])[1:] == [[4], 0]


def test_dense_and_sparse_gradients_merge_as_slices():
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1]))
    merged = primitives.merge([slices, tf.zeros([2, 1])]).output
    assert isinstance(merged, tf.IndexedSlices)


def test_references_stay_references():
    v = tf.get_variable("v", [2], use_resource=False)
    off, on = primitives.switch(v, tf.constant(True))
    assert primitives.next_iteration(v._variable).op.type == "RefNextIteration"
    assert primitives.exit(v._variable).op.type == "RefExit"
    assert primitives.next_iteration(tf.constant(1)).op.type == "NextIteration"
    assert on.dtype.base_dtype == tf.float32


def test_a_merge_of_nothing_is_refused():
    with pytest.raises(ValueError):
        primitives.merge([tf.constant(1), None])


@pytest.mark.parametrize("pairs", [[1], [(1, 2)], [(1, print, 3)], [[1, print]]])
def test_pairs_of_a_key_and_a_function(pairs):
    with pytest.raises(TypeError):
        primitives.check_pairs("pairs", pairs)
    primitives.check_pairs("pairs", [(1, print)])


def test_slices_of_branches_agree_on_the_type_of_their_indices(sess):
    def slices(dtype):
        return tf.IndexedSlices(tf.constant([1.0]), tf.constant([4], dtype))

    for enable in (tf.disable_control_flow_v2, tf.enable_control_flow_v2):
        enable()
        try:
            chosen = tf.cond(tf.placeholder_with_default(True, []), lambda: slices(tf.int32), lambda: slices(tf.int64))
        finally:
            tf.disable_control_flow_v2()
        assert chosen.indices.dtype == tf.int64 and sess.run(chosen.indices) == [4]


def test_parts_go_out_of_a_loop_one_by_one():
    out = primitives.exit(tf.IndexedSlices(tf.constant([1.0]), tf.constant([4])))
    assert out.values.op.type == out.indices.op.type == "Exit"
    assert primitives.exit(3).op.type == "Exit"


def test_executing_eagerly_what_is_not_live_is_empty():
    with eager_mode():
        off, on = primitives.switch(tf.constant(5), tf.constant(True))
        assert off.shape == [0] and on.numpy() == 5
        assert primitives.merge([on]).output.numpy() == 5 and primitives.next_iteration(on) is on
        with pytest.raises(tf.errors.InternalError):
            primitives.merge([off, on])
