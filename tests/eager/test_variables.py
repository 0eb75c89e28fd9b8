"""Variables with values, stores that share them by name, and templates."""

import copy

import numpy as np
import pytest

import everflow as tf

tfe = tf.contrib.eager


def test_a_read_is_a_snapshot_also_out_of_a_function():
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()
    v.assign_add([1.0, 1.0])
    assert before.numpy().tolist() == [1.0, 2.0]

    @tf.function
    def count():
        return v.assign_add([1.0, 1.0]).read_value()

    first, second = count(), count()
    assert [first.numpy().tolist(), second.numpy().tolist(), v.numpy().tolist()] == [[3.0, 4.0], [4.0, 5.0], [4.0, 5.0]]


def test_get_variable_makes_anew_without_a_store():
    with tf.variable_scope("a"):
        first, second = tf.get_variable("v", [1]), tf.get_variable("v", [1])
    assert first is not second
    assert first.name == second.name == "a/v:0"
    assert tf.global_variables() == []


def test_a_store_shares_by_name():
    store = tfe.EagerVariableStore()
    for _ in range(2):
        with store.as_default():
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            tf.get_variable("steps", [], trainable=False, initializer=tf.zeros_initializer())
            w.assign_add([1.0, 1.0])
    assert [v.name for v in store.variables()] == ["steps:0", "w:0"]
    assert store.trainable_variables() == [w]
    assert [v.name for v in store.non_trainable_variables()] == ["steps:0"]
    copy = store.copy()
    w.assign([0.0, 0.0])
    assert copy.trainable_variables()[0].numpy().tolist() == [3.0, 3.0]
    with store.as_default(), pytest.raises(ValueError, match="share"):
        tf.get_variable("w", [5])


def test_templates_keep_their_variables():
    scale = tf.make_template("scale", lambda x: x * tf.get_variable("s", initializer=2.0))
    assert [scale(1.0).numpy(), scale(3.0).numpy()] == [2.0, 6.0]
    assert [v.name for v in scale.trainable_variables] == ["scale/s:0"]
    traced = tfe.make_template("t", lambda x: x * tf.get_variable("s", initializer=3.0), create_graph_function_=True)
    assert [traced(tf.constant(1.0)).numpy(), traced(tf.constant(2.0)).numpy()] == [3.0, 6.0]


def test_collections_of_a_program_are_kept():
    tf.add_to_collection("mine", 3)
    assert tf.get_collection("mine") == [3]
    step = tf.train.get_or_create_global_step()
    assert tf.train.get_global_step() is step
    assert type(tf.get_default_graph()) is tf.Graph
    assert tf.get_default_graph().get_operations() == []


@pytest.mark.parametrize(
    ("error", "function"),
    [
        (RuntimeError, lambda: tf.placeholder(tf.float32)),
        (RuntimeError, lambda: tf.metrics.mean([1.0])),
        (RuntimeError, lambda: tf.summary.merge_all()),
        (RuntimeError, lambda: tf.summary.FileWriter("nowhere")),
        (RuntimeError, lambda: tf.train.export_meta_graph()),
        (RuntimeError, lambda: tf.train.start_queue_runners()),
        (RuntimeError, lambda: tf.train.string_input_producer(["a"])),
        (RuntimeError, lambda: tf.train.Saver()),
        (ValueError, lambda: tf.train.batch([tf.constant(1)], 2)),
        (ValueError, lambda: tf.assert_rank(tf.constant(1), 2)),
    ],
)
def test_what_only_graphs_do(error, function):
    with pytest.raises(error):
        function()


def test_sparse_and_ragged_tensors_show_their_values():
    assert str(tf.SparseTensor([[0]], [1], [2])).startswith(
        "SparseTensor(indices=tf.Tensor([[0]], shape=(1, 1), dtype=int64)"
    )
    ragged = tf.ragged.constant([[1], [2, 3]])
    assert repr(ragged) == "<tf.RaggedTensor [[1], [2, 3]]>"
    assert [row.numpy().tolist() for row in ragged] == [[1], [2, 3]]


def test_a_saver_by_names(tmp_path):
    v, w = tf.Variable(1.0, name="v"), tf.Variable([2.0, 3.0], name="w")
    path = tfe.Saver([v, w]).save(str(tmp_path / "model"), global_step=3)
    v.assign(7.0)
    tfe.Saver([v, w]).restore(path)
    assert v.numpy() == 1.0
    assert tf.train.list_variables(path) == [("v", []), ("w", [2])]
    with tfe.restore_variables_on_create(path):
        np.testing.assert_array_equal(tf.Variable([0.0, 0.0], name="w").numpy(), [2.0, 3.0])
        with pytest.raises(tf.errors.NotFoundError):
            tf.Variable(0.0, name="other")


def test_a_deep_copy_is_a_variable_of_its_own():
    v = tf.Variable([1.0], name="v", trainable=False)
    w = copy.deepcopy(v)
    v.assign([2.0])
    assert [w.numpy().tolist(), w.name, w.trainable] == [[1.0], "v:0", False]


def test_recurrent_networks_of_cells():
    cells = [tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2)]
    x = tf.ones([1, 4, 3])
    with tf.GradientTape() as tape:
        (forward, backward), _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, dtype=tf.float32)
        loss = tf.reduce_sum(forward) + tf.reduce_sum(backward)
    variables = cells[0].trainable_variables + cells[1].trainable_variables
    assert len(variables) == 8
    assert all(g is not None for g in tape.gradient(loss, variables))
