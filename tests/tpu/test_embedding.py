"""Embeddings on TPUs: their configuration, variables and nodes."""

import pytest

import everflow as tf
from everflow.tpu import embedding_gradient, feature_column
from everflow.tpu.embedding import TPUEmbedding
from everflow.tpu.embedding_config import INFERENCE, TRAINING, DeviceConfig, EnqueueData, FeatureConfig, TableConfig

HOSTS = DeviceConfig(num_hosts=2, num_cores=4, job_name="/job:w")
experimental = tf.tpu.experimental


ADAGRAD = experimental.AdagradParameters(0.5)


def embedding(mode=TRAINING, optimizer=ADAGRAD, batch_size=16, **table):
    tables = {"t1": TableConfig(100, 4, combiner="sum", **table), "t2": TableConfig(50, 8)}
    features = {"f1": FeatureConfig("t1"), "f2": FeatureConfig("t2", max_sequence_length=3), "f3": FeatureConfig("t1")}
    return TPUEmbedding(tables, features, batch_size, mode, optimization_parameters=optimizer, device_config=HOSTS)


def test_configuration():
    made = embedding()
    assert (made.num_cores_per_host, made.batch_size_per_core) == (2, 4)
    assert dict(made.table_to_features_dict) == {"t1": ["f1", "f3"], "t2": ["f2"]}
    first, second = made.config_proto.table_descriptor
    assert (first.num_features, second.num_features) == (2, 3)
    assert first.optimization_parameters.WhichOneof("parameters") == "adagrad"
    assert first.optimization_parameters.learning_rate.constant == 0.5
    keyed = embedding(learning_rate_key="rate").config_proto.table_descriptor[0]
    assert keyed.optimization_parameters.learning_rate.HasField("dynamic")
    served = embedding(INFERENCE, None).config_proto
    assert served.mode == 1 and served.table_descriptor[0].optimization_parameters.learning_rate.constant == 1.0


@pytest.mark.parametrize(
    ("optimizer", "op_name", "slots"),
    [
        (experimental.AdagradParameters(0.5), "Adagrad", 1),
        (experimental.AdamParameters(0.1), "ADAM", 2),
        (experimental.StochasticGradientDescentParameters(0.3), "StochasticGradientDescent", 0),
    ],
)
def test_tables_go_to_the_tpu_and_back(optimizer, op_name, slots):
    with tf.Graph().as_default():
        made = embedding(optimizer=optimizer).create_variables_and_ops()
        parts = made.embedding_variables_by_table["t1"]
        assert [(v.op.name, v.device) for v in parts] == [
            (f"t1/part_{i}", f"/job:w/replica:0/task:{i}/device:CPU:0") for i in range(2)
        ]
        loads, retrieves = made.load_ops(), made.retrieve_ops()
        assert [(op.type, op.get_attr("shard_id"), len(op.inputs)) for op in loads] == [
            (f"LoadTPUEmbedding{op_name}Parameters", shard, 1 + slots) for shard in (0, 1, 0, 1)
        ]
        assert len(retrieves[0].control_inputs) == 1 + slots


def test_activations_and_gradients():
    with tf.Graph().as_default():
        made = embedding()
        activations = made.get_activations()
        assert {name: t.shape.as_list() for name, t in activations.items()} == {
            "f1": [4, 4],
            "f3": [4, 4],
            "f2": [4, 3, 8],
        }
        sent = made.generate_send_gradients_op(activations)
        assert [t.shape.as_list() for t in sent.inputs] == [[8, 4], [12, 8]]
        with pytest.raises(RuntimeError, match="not for training"):
            embedding(INFERENCE, None).generate_send_gradients_op(activations)


def test_indices_are_fed():
    with tf.Graph().as_default():
        data = {name: EnqueueData(tf.constant([1, 2]), tf.constant([0, 1])) for name in ("f1", "f2", "f3")}
        (fed,) = embedding().generate_enqueue_ops([data])
        assert fed.get_attr("combiners") == [b"sum", b"sum", b"mean"]
        assert fed.get_attr("table_ids") == [0, 0, 1] and fed.get_attr("max_sequence_lengths") == [0, 0, 3]
        with pytest.raises(ValueError, match="lacks features"):
            embedding().generate_enqueue_ops([{"f1": data["f1"]}])
        with pytest.raises(ValueError, match="no sample_indices"):
            embedding().generate_enqueue_ops([{**data, "f1": EnqueueData(tf.constant([1]))}])


def test_gradients_are_caught_on_the_way():
    with tf.Graph().as_default():
        made = embedding()
        variables, _ = embedding_gradient.create_dummy_table_variables(made)
        activations = made.get_activations()
        hooked = embedding_gradient.hook_dummy_table_variables_to_activations(made, activations, variables)
        with pytest.raises(ValueError, match="may not be used"):
            embedding_gradient.get_gradients_through_dummy_table_variables(made)
        loss = tf.add_n([tf.reduce_sum(t) for t in hooked.values()])
        tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss)
        caught = embedding_gradient.get_gradients_through_dummy_table_variables(made)
        assert {name: t.shape.as_list() for name, t in caught.items()} == {
            n: t.shape.as_list() for n, t in hooked.items()
        }


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: embedding(mode=7),
        lambda: embedding(mode=INFERENCE),
        lambda: embedding(batch_size=15),
        lambda: TPUEmbedding({"t": TableConfig(9, 2)}, {"f": FeatureConfig("u")}, 16, TRAINING, device_config=HOSTS),
        lambda: TPUEmbedding({"t": TableConfig(9, 2)}, {"f": FeatureConfig("t")}, 16, TRAINING),
        lambda: TableConfig(0, 2),
        lambda: TableConfig(1, 1, combiner="x"),
        lambda: FeatureConfig("t", max_sequence_length=-1),
        lambda: experimental.AdagradParameters(0.1, initial_accumulator=0.0),
        lambda: experimental.AdamParameters(0.1, beta1=2.0),
        lambda: experimental.AdamParameters(0.1, lazy_adam=False, use_gradient_accumulation=False),
    ],
)
def test_refusals(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_columns_are_ordinary_off_a_tpu():
    with tf.Graph().as_default(), tf.Session() as session:
        words = tf.feature_column.categorical_column_with_identity("words", 3)
        column = tf.tpu.experimental.embedding_column(words, 2, initializer=tf.ones_initializer())
        assert (column.get_embedding_table_size(), column.get_feature_key_name()) == ((3, 2), "words")
        dense = tf.feature_column.input_layer({"words": tf.constant([[1], [2]])}, [column])
        session.run(tf.global_variables_initializer())
        assert session.run(dense).tolist() == [[1.0, 1.0]] * 2
        both = tf.tpu.experimental.shared_embedding_columns([words, words], 2)
        assert [c.get_embedding_var_name() for c in both] == [both[0].shared_embedding_collection_name] * 2
        with pytest.raises(ValueError, match="no sequence"):
            feature_column.embedding_column(words, 2, max_sequence_length=3)
