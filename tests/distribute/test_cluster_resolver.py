"""tf.distribute.cluster_resolver."""

import json

import pytest

import everflow as tf

resolvers = tf.distribute.cluster_resolver
CLUSTER = {"ps": ["p:1"], "worker": ["w0:1", "w1:1"]}


def test_simple():
    simple = resolvers.SimpleClusterResolver(
        tf.train.ClusterSpec(CLUSTER), master="m:1", task_type="worker", task_id=1, rpc_layer="grpc"
    )
    assert simple.master() == "grpc://m:1" and simple.master("worker", 0) == "grpc://w0:1"
    assert simple.cluster_spec().as_dict() == CLUSTER and (simple.task_type, simple.task_id) == ("worker", 1)
    with pytest.raises(TypeError):
        resolvers.SimpleClusterResolver(CLUSTER)


def test_from_the_environment(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert resolvers.TFConfigClusterResolver().master() == "" and not resolvers.TFConfigClusterResolver().cluster_spec()
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({"cluster": CLUSTER, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc"})
    )
    found = resolvers.TFConfigClusterResolver()
    assert (found.task_type, found.task_id, found.rpc_layer) == ("worker", 1, "grpc")
    assert found.master() == "grpc://w1:1" and found.master("ps", 0) == "grpc://p:1"
    found.task_id = 0
    assert found.master() == "grpc://w0:1"
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({"cluster": {"worker": ["w:1"]}, "task": {"type": "worker", "index": 0}})
    )
    assert resolvers.TFConfigClusterResolver().master() == ""


def test_union():
    one = resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1"]}))
    two = resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["b:1"], "ps": {2: "c:1"}}))
    both = resolvers.UnionResolver(one, two)
    assert both.cluster_spec().as_dict() == {"worker": ["a:1", "b:1"], "ps": {2: "c:1"}}
    assert both.master("ps", 2) == "c:1"
    for bad in ((), ("text",)):
        with pytest.raises((ValueError, TypeError)):
            resolvers.UnionResolver(*bad)


def test_accelerators_are_asked_of_the_task():
    server = tf.train.Server.create_local_server()
    resolver = resolvers.SimpleClusterResolver(tf.train.ClusterSpec({}), master=server.target)
    counted = resolvers.ClusterResolver.num_accelerators(resolver)
    assert all(kind == "GPU" for kind in counted)
    server._stop()


def test_a_server_for_the_task_that_the_environment_names(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["localhost:0"]}, "task": {"type": "worker", "index": 0}}')
    server = tf.contrib.distribute.run_standard_tensorflow_server()
    assert server.target.startswith("grpc://localhost:")
    monkeypatch.setenv("TF_CONFIG", "{}")
    with pytest.raises(ValueError, match="cluster"):
        tf.contrib.distribute.run_standard_tensorflow_server()
