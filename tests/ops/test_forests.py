"""Trees of forests as resources of a graph."""

import everflow as tf
from everflow.contrib.tensor_forest import tensor_forest
from everflow.ops.variables import resources


def test_resources_shapes_and_checkpoints(tmp_path):
    params = tensor_forest.ForestHParams(num_classes=3, num_features=4, num_trees=2, max_nodes=50).fill()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tensor_forest.RandomForestGraphs(params)
        names = [op.name for op in graph.get_operations() if op.name.startswith("stats-0")]
        assert names == [
            "stats-0",
            "stats-0/CreateFertileStatsVariable/stats_config",
            "stats-0/CreateFertileStatsVariable",
            "stats-0/FertileStatsIsInitializedOp",
            "stats-0/FertileStatsSerialize",
        ]
        assert graph.get_tensor_by_name("stats-0/FertileStatsSerialize:0").shape.as_list() == []
        assert len(resources.shared_resources()) == 4
        session.run([tf.global_variables_initializer(), resources.initialize_resources(resources.shared_resources())])
        saver = tf.train.Saver()
        path = saver.save(session, str(tmp_path / "forest"))
        saver.restore(session, path)
    assert {"stats-0:0", "tree-1:0"} <= {name for name, _ in tf.train.list_variables(path)}
