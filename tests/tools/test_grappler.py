"""MetaGraphs made simpler by named rewrites."""

import pytest

import everflow as tf
from everflow.protos.device_properties_pb2 import DeviceProperties, NamedDevice
from everflow.tools import grappler


def _meta_graph():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        total = tf.add(tf.constant([1.0, 2.0], name="a"), tf.constant([3.0, 4.0], name="b"), name="total")
        y = tf.multiply(x, total, name="y")
        z = tf.identity(tf.identity(y, name="between"), name="z")
        tf.negative(y, name="unused")
        tf.add_to_collection("train_op", z)
        return tf.train.export_meta_graph(graph=graph)


def _optimized(*rewrites, meta=None, fewest=-1):
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.optimizers[:] = rewrites
    config.graph_options.rewrite_options.min_graph_nodes = fewest
    return grappler.OptimizeGraph(config, meta or _meta_graph(), cluster=grappler.Cluster())


def _names(graph_def):
    return [node.name for node in graph_def.node]


def test_constants_are_folded():
    graph_def = _optimized("constfold", "function")
    assert _names(graph_def) == ["x", "total", "y", "between", "z"]
    assert [node.op for node in graph_def.node][:2] == ["Placeholder", "Const"]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        assert sess.run("z:0", {"x:0": [1.0, 2.0]}).tolist() == [4.0, 12.0]


def test_what_is_not_needed_goes():
    assert _names(_optimized("pruning")) == ["x", "a", "b", "total", "y", "z"]
    assert _names(_optimized()) == ["x", "total", "y", "z"]
    assert len(_optimized("layout").node) == 8


def test_calls_become_their_bodies():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")

        @tf.function
        def twice(x):
            return x * 2.0

        tf.add_to_collection("train_op", tf.identity(twice(twice(x)), name="z"))
        meta = tf.train.export_meta_graph(graph=graph)
    graph_def = _optimized("function", meta=meta)
    assert {"Mul", "Placeholder", "Identity", "Const"} == {node.op for node in graph_def.node}
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        assert sess.run("z:0", {"x:0": 3.0}) == 12.0


def test_small_graphs_are_left_alone():
    assert len(_optimized(fewest=100).node) == 8
    with pytest.raises(TypeError, match="ConfigProto"):
        grappler.OptimizeGraph(tf.ConfigProto().graph_options, _meta_graph())


def test_items_and_clusters():
    item, cluster = grappler.Item(_meta_graph()), grappler.Provision()
    assert "unused" not in item.IdentifyImportantOps() and item.GetColocationGroups() == []
    assert item.GetOpProperties()["y"] == [(tf.float32, tf.TensorShape([2]))]
    assert "MatMul" in cluster.ListAvailableOps()
    assert any(name.endswith("CPU:0") for name in cluster.GetSupportedDevices(item)["y"])
    cluster.Shutdown()
    assert cluster.ListDevices() == []


def test_items_and_clusters_say_what_they_know():
    meta = _meta_graph()
    item = grappler.Item(meta)
    assert item.GetOpProperties()["y"][0].dtype == tf.float32.as_datatype_enum
    before = item.tf_item
    assert item.tf_item is before
    meta.graph_def.node[0].device = "/cpu:0"
    assert item.tf_item is not before
    with pytest.raises(tf.errors.InvalidArgumentError, match="train_op"):
        grappler.Item(tf.MetaGraphDef())
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0, name="v")
        tf.add_to_collection("train_op", tf.assign_add(v, 2.0, name="more"))
        variables = grappler.Item(tf.train.export_meta_graph(graph=graph))
    assert variables.GetColocationGroups() == [["v", "v/Assign", "more"]]
    with grappler.Provision(disable_detailed_stats=False) as cluster:
        assert cluster.ListDevices()[0].properties.type == "CPU"
        _, seconds, stats = cluster.MeasureCosts(variables)
        assert seconds > 0 and stats.dev_stats
        [(most, held)] = cluster.DeterminePeakMemoryUsage(variables).values()
        assert most == sum(each[2] for each in held) and ("v", 0, 4, 0, 1) in held


def test_loops_run_as_before():
    with tf.Graph().as_default() as graph:
        counted = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
        tf.add_to_collection("train_op", counted)
        meta = tf.train.export_meta_graph(graph=graph)
    with tf.Graph().as_default(), tf.Session() as sess:
        (again,) = tf.import_graph_def(_optimized(meta=meta), return_elements=[counted.name])
        assert sess.run(again) == 10


def test_a_graph_must_say_what_is_run():
    with tf.Graph().as_default() as graph:
        tf.constant(1.0)
        meta = tf.train.export_meta_graph(graph=graph)
    with pytest.raises(tf.errors.InvalidArgumentError, match="train_op"):
        _optimized(meta=meta)
    with pytest.raises(TypeError, match="MetaGraphDef"):
        grappler.Item(3)


def test_rewrites_can_be_switched_off():
    config = tf.ConfigProto()
    options = config.graph_options.rewrite_options
    options.min_graph_nodes = -1
    options.disable_model_pruning = True
    options.constant_folding = options.dependency_optimization = options.OFF
    meta = _meta_graph()
    assert _names(grappler.OptimizeGraph(config, meta)) == _names(meta.graph_def)


def test_costs_on_a_device_that_is_only_described():
    properties = DeviceProperties(type="GPU", frequency=1000, num_cores=60, environment={"architecture": "7"})
    cluster = grappler.Cluster(devices=[NamedDevice(properties=properties, name="/GPU:0")])
    assert cluster.EstimatePerformance(cluster.ListDevices()[0]) == 7680.0
    with tf.Graph().as_default() as graph, tf.device("/device:GPU:0"):
        tf.add_to_collection("train_op", tf.add(tf.ones([64, 64]), 1.0))
    item = grappler.Item(tf.train.export_meta_graph(graph=graph))
    costs, seconds, stats = cluster.MeasureCosts(item)
    assert {cost.node for cost in costs} == {op.name for op in graph.get_operations()}
    assert seconds > 0 and len(stats.dev_stats[0].node_stats) == len(costs)


def test_stats_of_a_run_are_there_when_they_are_wanted():
    with tf.Graph().as_default() as graph:
        tf.add_to_collection("train_op", tf.add(tf.random.uniform([4]), 1.0))
    item = grappler.Item(tf.train.export_meta_graph(graph=graph))
    assert not grappler.Cluster().MeasureCosts(item)[2].dev_stats
    assert grappler.Cluster(disable_detailed_stats=False).MeasureCosts(item)[2].dev_stats
