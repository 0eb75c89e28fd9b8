"""TPU estimators off a TPU: the step is a resource variable, and speed is reported in examples."""

import os

import pytest

import everflow as tf
from everflow.estimator.tpu.estimator import MultiHostDatasetInitializerHook


def test_the_step_and_the_reports_of_speed(tmp_path):
    steps = []

    def model_fn(features, labels, mode, params):
        step = tf.train.get_or_create_global_step()
        steps.append(step)
        loss = tf.reduce_sum(tf.get_variable("w", [2]) * features)
        return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=tf.assign_add(step, 1))

    config = tf.estimator.tpu.RunConfig(
        model_dir=str(tmp_path), tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=1000)
    )
    estimator = tf.estimator.tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=4)
    assert estimator.config.log_step_count_steps is None and config.log_step_count_steps == 100
    estimator.train(lambda params: tf.data.Dataset.from_tensors(float(params["batch_size"])).repeat(), max_steps=3)
    assert steps[0].op.type == "VarHandleOp"
    files = [name for name in os.listdir(tmp_path) if "tfevents" in name]
    rates = {}
    for event in tf.train.summary_iterator(os.path.join(tmp_path, files[0])):
        for value in event.summary.value:
            rates.setdefault(value.tag, []).append(value.simple_value)
    assert len(rates["examples/sec"]) == 2
    assert abs(rates["examples/sec"][0] / rates["global_step/sec"][0] - 4) < 1e-3


def test_the_address_of_a_tpu():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470")
    assert (
        resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470"]}
        and resolver.get_master() == "grpc://10.0.0.1:8470"
    )
    config = tf.contrib.tpu.RunConfig(cluster=resolver)
    assert config.master == config.evaluation_master == "grpc://10.0.0.1:8470" and config.cluster_spec.jobs == [
        "worker"
    ]
    here = tf.contrib.cluster_resolver.TPUClusterResolver("")
    assert here.master() == "" and here.cluster_spec() is None and tf.contrib.tpu.RunConfig(cluster=here).master == ""
    with pytest.raises(ValueError, match="TPU Name"):
        tf.contrib.cluster_resolver.TPUClusterResolver()


def test_cross_shard_optimizer_draws_sums():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", [2])
        optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
        optimizer.minimize(tf.reduce_sum(v * v))
    (update,) = [op for op in graph.get_operations() if op.type == "ApplyGradientDescent"]
    assert update.inputs[2].op.type == "CrossReplicaSum"
    with pytest.raises(ValueError, match="not reduced by"):
        tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1), reduction="none")


def test_metric_functions_of_any_number_of_tensors():
    with tf.Graph().as_default():
        loss = tf.constant(1.0)
        spec = tf.estimator.tpu.TPUEstimatorSpec(
            "eval", loss=loss, eval_metrics=(lambda *a: {"n": tf.metrics.mean(a[1])}, [loss, loss])
        )
        assert set(spec.as_estimator_spec().eval_metric_ops) == {"n"}
        with pytest.raises(RuntimeError, match="does not match"):
            tf.estimator.tpu.TPUEstimatorSpec("eval", loss=loss, eval_metrics=(lambda a: {}, [loss, loss]))


def test_iterators_of_hosts_are_initialized():
    with tf.Graph().as_default():
        iterator = tf.data.Dataset.range(3).make_initializable_iterator()
        value = iterator.get_next()
        hook = MultiHostDatasetInitializerHook([iterator.initializer])
        with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
            assert session.run(value) == 0


def test_embeddings_of_an_estimator():
    made = tf.estimator.tpu.experimental.EmbeddingConfigSpec
    words = tf.feature_column.categorical_column_with_identity("words", 3)
    columns = [tf.tpu.experimental.embedding_column(words, 2)]
    optimizer = tf.tpu.experimental.AdagradParameters(0.1)
    assert made(columns, optimizer, clipping_limit=1.0).partition_strategy == "div"
    for error, wrong in [
        (ValueError, {}),
        (ValueError, {"feature_columns": columns}),
        (ValueError, {"feature_columns": columns, "optimization_parameters": optimizer, "partition_strategy": "x"}),
        (TypeError, {"feature_to_config_dict": {"a": 1}, "table_to_config_dict": {"b": 2}}),
    ]:
        with pytest.raises(error):
            made(**wrong)
