"""A frozen graph in an event file."""

import everflow as tf
from everflow.tools import import_pb_to_tensorboard


def test_the_graph_is_in_the_event_file(tmp_path, capsys):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="one")
    (tmp_path / "g.pb").write_bytes(graph.as_graph_def().SerializeToString())
    import_pb_to_tensorboard.main([f"--model_dir={tmp_path / 'g.pb'}", f"--log_dir={tmp_path / 'logs'}"])
    assert "tensorboard --logdir" in capsys.readouterr().out
    (made,) = (tmp_path / "logs").iterdir()
    graphs = [tf.GraphDef.FromString(e.graph_def) for e in tf.train.summary_iterator(str(made)) if e.graph_def]
    assert [node.name for node in graphs[0].node] == ["import/one"]
