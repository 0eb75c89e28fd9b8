"""The names of collections are part of files: they are TensorFlow's."""

import pytest

import everflow as tf
from everflow.framework.graph_keys import GraphKeys

pytestmark = pytest.mark.usefixtures("own_graph")


def test_no_two_keys_share_a_name_but_for_the_deprecated_one():
    named = {key: value for key, value in vars(GraphKeys).items() if isinstance(value, str) and key.isupper()}
    assert named.pop("VARIABLES") == named["GLOBAL_VARIABLES"]
    public = {key: value for key, value in named.items() if not key.startswith("_")}
    assert len(set(public.values())) == len(public)


@pytest.mark.parametrize(
    ("key", "name", "fill"),
    [
        ("GLOBAL_VARIABLES", "variables", lambda: tf.Variable(1.0)),
        ("TRAINABLE_VARIABLES", "trainable_variables", lambda: tf.Variable(1.0)),
        ("LOCAL_VARIABLES", "local_variables", lambda: tf.contrib.framework.local_variable(1.0)),
        ("TABLE_INITIALIZERS", "table_initializer", lambda: tf.contrib.lookup.index_table_from_tensor(["a"])),
        ("LOSSES", "losses", lambda: tf.losses.mean_squared_error([1.0], [2.0])),
        ("SUMMARIES", "summaries", lambda: tf.summary.scalar("s", 1.0)),
        ("GLOBAL_STEP", "global_step", tf.train.create_global_step),
        ("QUEUE_RUNNERS", "queue_runners", lambda: tf.train.string_input_producer(["a"])),
        ("SAVERS", "savers", lambda: tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver([tf.Variable(1.0)]))),
    ],
)
def test_what_the_library_makes_is_found_under_its_key(key, name, fill):
    fill()
    assert getattr(tf.GraphKeys, key) == name and len(tf.get_collection(name)) == 1


def test_keys_of_variables_are_keys():
    assert set(GraphKeys._VARIABLE_COLLECTIONS) <= {v for v in vars(GraphKeys).values() if isinstance(v, str)}
