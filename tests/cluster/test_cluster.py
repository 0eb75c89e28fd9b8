"""tf.train.ClusterSpec."""

import pytest

import everflow as tf


def test_lists_and_dictionaries_of_tasks():
    spec = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": {1: "c:1", 3: "d:1"}})
    assert sorted(spec.jobs) == ["ps", "worker"]
    assert spec.num_tasks("worker") == 2 and spec.task_indices("worker") == [1, 3]
    assert spec.task_address("worker", 3) == "d:1"
    assert spec.job_tasks("worker") == [None, "c:1", None, "d:1"]
    assert spec.as_dict() == {"ps": ["a:1", "b:1"], "worker": {1: "c:1", 3: "d:1"}}


def test_made_from_another_form_it_is_equal():
    spec = tf.train.ClusterSpec({"ps": ["a:1"], "worker": {2: "c:1"}})
    assert tf.train.ClusterSpec(spec) == spec == tf.train.ClusterSpec(spec.as_cluster_def())
    assert spec != tf.train.ClusterSpec({"ps": ["a:1"]})
    assert spec and not tf.train.ClusterSpec({})


@pytest.mark.parametrize("cluster", [5, ["a:1"], {"ps": 3}, {"ps": {"x": "a:1"}}, {"ps": [7]}, {3: ["a:1"]}])
def test_what_is_no_cluster(cluster):
    with pytest.raises(TypeError):
        tf.train.ClusterSpec(cluster)


def test_unknown_jobs_and_tasks():
    spec = tf.train.ClusterSpec({"ps": ["a:1"]})
    for call in (lambda: spec.num_tasks("x"), lambda: spec.task_address("ps", 4), lambda: spec.job_tasks("x")):
        with pytest.raises(ValueError):
            call()
