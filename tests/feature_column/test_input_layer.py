"""input_layer and linear_model: names, scopes, collections, and features of any rank."""

import numpy as np
import pytest

import everflow as tf

fc = tf.feature_column
IDS = fc.categorical_column_with_identity("i", 4)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def names(variables):
    return [variable.name for variable in variables]


def test_columns_are_joined_in_the_order_of_their_names():
    a, b = fc.numeric_column("a"), fc.numeric_column("b", 2)
    outputs = {}
    joined = fc.input_layer(
        {"b": tf.constant([[1.0, 2.0]]), "a": tf.constant([3])}, [b, a], cols_to_output_tensors=outputs
    )
    assert outputs[b].name == "input_layer/b/Reshape:0"
    with tf.Session() as session:
        assert session.run(joined).tolist() == [[3, 1, 2]]


def test_a_feature_of_unknown_rank_is_looked_at_when_run():
    x = tf.placeholder(tf.float32)
    output = fc.input_layer({"x": x}, [fc.numeric_column("x")])
    assert output.shape.as_list() == [None, 1]
    with tf.Session() as session:
        assert session.run(output, {x: [1, 2]}).tolist() == session.run(output, {x: [[1], [2]]}).tolist() == [[1], [2]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot have rank 0"):
            session.run(output, {x: 1})


def test_variables_of_an_embedding():
    column = fc.embedding_column(IDS, 2)
    made = {}
    fc.input_layer({"i": tf.constant([[1]])}, [column], weight_collections=["mine"], cols_to_vars=made)
    assert names(made[column]) == ["input_layer/i_embedding/embedding_weights:0"]
    for collection in (
        "mine",
        tf.GraphKeys.GLOBAL_VARIABLES,
        tf.GraphKeys.MODEL_VARIABLES,
        tf.GraphKeys.TRAINABLE_VARIABLES,
    ):
        assert names(tf.get_collection(collection)) == names(made[column])
    with tf.variable_scope("cut", partitioner=tf.fixed_size_partitioner(2)):
        fc.input_layer({"i": tf.constant([[1]])}, [column], cols_to_vars=made, trainable=False)
    assert names(made[column]) == [f"cut/input_layer/i_embedding/embedding_weights/part_{i}:0" for i in range(2)]
    assert len(tf.trainable_variables()) == 1


def test_shared_embeddings_have_one_table():
    columns = fc.shared_embedding_columns([IDS, fc.categorical_column_with_identity("j", 4)], 2)
    output = fc.input_layer({"i": tf.constant([[1]]), "j": tf.constant([[1]])}, columns)
    with tf.variable_scope("elsewhere"):
        fc.input_layer({"i": tf.constant([[1]])}, columns[:1])
    assert names(tf.global_variables()) == ["input_layer/i_j_shared_embedding/embedding_weights:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        left, right = np.split(session.run(output), 2, axis=1)
    assert left.tolist() == right.tolist()


def test_an_embedding_starts_from_a_checkpoint(tmp_path):
    with tf.Session() as session:
        table = tf.get_variable("table", initializer=np.eye(4, 2, dtype="float32"))
        session.run(table.initializer)
        path = tf.train.Saver([table]).save(session, str(tmp_path / "model"))
    column = fc.embedding_column(IDS, 2, ckpt_to_load_from=path, tensor_name_in_ckpt="table")
    output = fc.input_layer({"i": tf.constant([[1], [3]])}, [column])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(output).tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize(
    "features, columns, error",
    [
        ({"x": [[1.0]]}, [], "must not be empty"),
        ({"x": [[1.0]]}, {"x": fc.numeric_column("x")}, "found dict"),
        ({"x": [[1.0]]}, ["x"], "must be a _FeatureColumn"),
        ({"x": [[1.0]]}, [fc.numeric_column("x"), fc.numeric_column("x")], "Duplicate feature column name"),
        ({"i": [[1]]}, [IDS], "embedding_column or indicator_column"),
        ({"y": [[1.0]]}, [fc.numeric_column("x")], "Feature x is not in features dictionary"),
        ({"x": 1.0}, [fc.numeric_column("x")], "cannot have rank 0"),
        ({"x": [[1.0]], "y": [[1.0], [2.0]]}, [fc.numeric_column("x"), fc.numeric_column("y")], "Batch size"),
        ({"i": [["a"]]}, [fc.indicator_column(IDS)], "not integer"),
    ],
)
def test_what_can_not_be_an_input_layer(features, columns, error):
    with pytest.raises(ValueError, match=error):
        fc.input_layer(features, columns)


def test_scopes_of_linear_models():
    x = fc.numeric_column("x")
    features = {"x": tf.constant([[2.0]]), "i": tf.constant([[1]])}
    made = {}
    first = fc.linear_model(features, [IDS, x], cols_to_vars=made)
    assert first.name == "linear_model_1/linear_model/weighted_sum:0"
    assert [names(made[key]) for key in (IDS, x, "bias")] == [
        ["linear_model/i/weights:0"],
        ["linear_model/x/weights:0"],
        ["linear_model/bias_weights:0"],
    ]
    fc.linear_model(features, [x])
    assert names(tf.global_variables())[3:] == ["linear_model_1/x_1/weights:0", "linear_model_1/bias_weights:0"]
    for _ in range(2):
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            fc.linear_model(features, [x])
    assert len(tf.global_variables()) == 7


def test_linear_models_learn():
    features = {
        "x": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "i": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([0, 2, 3], tf.int64), [3, 2]),
    }
    sums = fc.linear_model(features, [fc.numeric_column("x", 2), IDS], units=2, sparse_combiner="mean")
    loss = tf.reduce_sum(tf.square(sums - 1.0))
    step = tf.train.FtrlOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        session.run(step)
        assert session.run(loss) < before == 6


def test_layers_that_are_objects_share_their_variables():
    slim = tf.contrib.slim
    embedded = fc.embedding_column(IDS, 2, initializer=tf.ones_initializer())
    features = {"i": tf.constant([[1], [3]]), "x": tf.constant([[1.0], [2.0]])}
    with tf.variable_scope("outer"):
        layer = slim.InputLayer([embedded, fc.numeric_column("x")])
    assert (layer.name, layer.variables) == ("feature_column_input_layer", [])
    first, second = layer(features), layer(features)
    assert [first.name, second.name] == ["feature_column_input_layer/concat:0", "feature_column_input_layer_1/concat:0"]
    assert [v.name for v in layer.weights] == ["outer/feature_column_input_layer/i_embedding/embedding_weights:0"]
    assert layer.trainable_variables == layer.variables and not layer.non_trainable_variables
    frozen = slim.InputLayer(
        [embedded], weight_collections=["mine"], trainable=False, name="frozen", create_scope_now=False
    )
    frozen(features)
    assert frozen.non_trainable_weights == tf.get_collection("mine") and not frozen.trainable_weights
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(second).tolist() == [[1, 1, 1], [1, 1, 2]]
    bad = slim.InputLayer([IDS])  # Columns are looked at in the call.
    with pytest.raises(ValueError, match="DenseColumn"):
        bad(features)
