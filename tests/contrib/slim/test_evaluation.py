"""slim.evaluation: what it adds to a graph, and in which order."""

import everflow as tf

slim = tf.contrib.slim


def _nodes_of(evaluate, folder, **kwargs):
    with tf.Graph().as_default() as graph:
        tf.train.get_or_create_global_step()
        x = tf.get_variable("x", initializer=1.0)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, str(folder / "model"))
        tf.summary.scalar("x", x)
        before = len(graph.get_operations())
        where = path if evaluate is slim.evaluation.evaluate_once else str(folder)
        result = evaluate("", where, str(folder / "logs"), num_evals=2, eval_op=[x + 1.0], final_op=x * 3.0, **kwargs)
        assert result == 3.0
        return [op.name for op in graph.get_operations()[before:]]


def test_the_merged_summary_comes_first(tmp_path):
    names = _nodes_of(slim.evaluation.evaluate_once, tmp_path, variables_to_restore=None)
    assert names[4] == "Merge/MergeSummary"  # after the two nodes of each of the arguments
    assert {"read", "Identity"} <= set(names)


def test_a_loop_counts_as_it_goes(tmp_path):
    names = _nodes_of(slim.evaluation.evaluation_loop, tmp_path, max_number_of_evaluations=1)
    assert names[4] == "Merge/MergeSummary"
    assert "read" not in names


def test_end_points_of_vgg_19_are_kept_by_the_variable_scope():
    images = tf.placeholder(tf.float32, [None, 224, 224, 3])
    slim.nets.vgg.vgg_19(images, num_classes=2)
    slim.nets.vgg.vgg_a(images, num_classes=2)
    keys = tf.get_default_graph().get_all_collection_keys()
    assert "vgg_19_end_points" in keys and "vgg_a/_end_points" in keys
