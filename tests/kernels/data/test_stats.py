"""Statistics of pipelines: what an aggregator's summaries have, under TensorFlow's names."""

import numpy as np
import pytest

import everflow as tf
from everflow.data.experimental.optimization import assert_next
from everflow.data.experimental.stats import StatsAggregatorV2, set_stats_aggregator
from everflow.protos.summary_pb2 import Summary

numbers = tf.data.Dataset.range


def told(build, elements=10, **settings):
    """{tag: histogram or number} after some elements."""
    aggregator = tf.data.experimental.StatsAggregator()
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    for name, value in settings.items():
        setattr(options.experimental_stats, name, value)
    iterator = tf.compat.v1.data.make_initializable_iterator(build().with_options(options))
    following, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(elements):
            session.run(following)
        values = Summary.FromString(session.run(summary)).value
    return {v.tag: v.histo if v.HasField("histo") else v.simple_value for v in values}


def test_bytes_of_elements():
    made = told(
        lambda: numbers(99).map(lambda x: tf.tile([x], [x])).apply(tf.data.experimental.bytes_produced_stats("b"))
    )
    assert (made["b"].num, made["b"].min, made["b"].max, made["b"].sum) == (10, 0, 72, 360)
    assert sum(made["b"].bucket) == 10
    text = tf.data.Dataset.from_tensors(("abc", 1.0)).repeat().apply(tf.data.experimental.bytes_produced_stats("t"))
    assert told(lambda: text, 3)["t"].sum == 45


def test_times_of_elements_add_up_under_one_tag():
    latency = tf.data.experimental.latency_stats
    made = told(lambda: numbers(99).apply(latency("x")).apply(latency("x")).apply(latency("y")))
    assert (made["x"].num, made["y"].num) == (20, 10)
    assert made["x"].min >= 0


def test_filters_tell_what_they_drop():
    def build():
        return numbers(99).filter(lambda x: tf.equal(x % 3, 0))

    expected = {"FilterDataset/_4::dropped_elements": 18, "FilterDataset/_4::filtered_elements": 10}
    assert told(build) == expected
    prefixed = told(build, prefix="p", counter_prefix="c")
    assert prefixed == {f"p::{tag}": value for tag, value in expected.items()}


def test_buffers_tell_how_full_they_are():
    made = told(lambda: numbers(99).prefetch(3))
    assert made["PrefetchDataset/_5::buffer_capacity"] == 3
    assert made["PrefetchDataset/_5::buffer_utilization"].num == 10
    assert 0 <= made["PrefetchDataset/_5::buffer_size"] <= 3


def test_times_of_all_datasets():
    made = told(lambda: numbers(99).skip(1).batch(2).take(9).prefetch(1), 3, latency_all_edges=True)
    timed = {tag.removeprefix("record_latency::") for tag in made if tag.startswith("record_latency::")}
    assert timed == {"RangeDataset/_3", "SkipDataset/_5", "TakeDataset/_10", "PrefetchDataset/_12"}
    inner = told(lambda: numbers(9).flat_map(lambda x: numbers(2)), latency_all_edges=True)
    assert set(inner) == {
        f"record_latency::{name}" for name in ("RangeDataset/_3", "FlatMapDataset/_4", "RangeDataset")
    }


def test_datasets_see_those_that_measure():
    names = ["LatencyStats", "Map", "LatencyStats", "Prefetch", "LatencyStats", "Model", "SetStatsAggregator"]
    assert told(lambda: numbers(9).apply(assert_next(names)).map(lambda x: x).prefetch(1), 1, latency_all_edges=True)


def test_iterators_share_an_aggregator():
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = numbers(5).apply(tf.data.experimental.latency_stats("x")).apply(set_stats_aggregator(aggregator, "p"))
    following = [tf.compat.v1.data.make_initializable_iterator(dataset) for _ in range(2)]
    taken = [iterator.get_next() for iterator in following]
    with tf.Session() as session:
        session.run([iterator.initializer for iterator in following])
        for _ in range(5):
            session.run(taken)
        (value,) = Summary.FromString(session.run(aggregator.get_summary())).value
    assert (value.tag, value.histo.num) == ("p::x", 10)


@pytest.mark.parametrize("stats", [tf.data.experimental.latency_stats, tf.data.experimental.bytes_produced_stats])
def test_without_an_aggregator_nothing_is_told(stats):
    following = tf.compat.v1.data.make_one_shot_iterator(numbers(3).apply(stats("x"))).get_next()
    with tf.Session() as session:
        np.testing.assert_array_equal([session.run(following) for _ in range(3)], [0, 1, 2])


@pytest.mark.parametrize("stats", [tf.data.experimental.latency_stats, tf.data.experimental.bytes_produced_stats])
def test_a_tag_is_one_string(stats):
    with pytest.raises(ValueError, match="rank"):
        numbers(3).apply(stats(["a", "b"]))


THREADS = {
    "map": ("ParallelMapDataset", lambda: numbers(99).map(lambda x: x + 1, num_parallel_calls=2)),
    "interleave": (
        "ParallelInterleaveDatasetV2",
        lambda: numbers(99).interleave(tf.data.Dataset.from_tensors, cycle_length=3, num_parallel_calls=-1),
    ),
    "map and batch": (
        "MapAndBatchDataset",
        lambda: numbers(99).apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 4)),
    ),
    "maps and batches taken for one": ("MapAndBatchDataset", lambda: numbers(99).map(lambda x: x + 1).batch(4)),
}


@pytest.mark.parametrize("kind", THREADS)
def test_how_many_threads_have_work(kind):
    name, build = THREADS[kind]
    (use,) = [value for tag, value in told(build).items() if tag.startswith(name) and "::thread_utilization" in tag]
    assert 0 < use <= 1


def test_times_of_calls():
    made = told(lambda: numbers(99).map(lambda x: x + 1, num_parallel_calls=2))
    (times,) = [made[tag] for tag in made if tag.startswith("ParallelMap::__inference_Dataset_map_")]
    assert times.num >= 10
    assert not any("execution_time" in tag for tag in told(lambda: numbers(99).map(lambda x: x + 1)))


def test_features_of_examples():
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.extend([1, 2, 3])
    example.features.feature["unread"].int64_list.value.append(1)
    wanted = {"a": tf.VarLenFeature(tf.int64), "missing": tf.FixedLenFeature([], tf.int64, 0)}
    source = tf.data.Dataset.from_tensors([example.SerializeToString()] * 2).repeat()
    made = told(lambda: source.apply(tf.data.experimental.parse_example_dataset(wanted)), 3)
    by_name = {tag.split("::")[1]: value for tag, value in made.items() if tag.startswith("ParseExampleDataset")}
    assert (by_name["features_count"].num, by_name["features_count"].max) == (6, 2)
    assert by_name["feature_values_count"].sum == 18 and 0 < by_name["thread_utilization"] <= 1


def test_nothing_is_told_of_the_end():
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = numbers(3).prefetch(1).apply(set_stats_aggregator(aggregator))
    following = tf.compat.v1.data.make_initializable_iterator(dataset)
    element, summary = following.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(following.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                session.run(element)
        values = Summary.FromString(session.run(summary)).value
        with pytest.raises(tf.errors.UnimplementedError):
            session.run(tf.raw_ops.SerializeIterator(resource_handle=following._iterator_resource))
    assert [v.histo.num for v in values if v.HasField("histo")] == [3]


def test_an_aggregator_writes_to_a_folder_of_its_own():
    aggregator = StatsAggregatorV2()
    assert aggregator._logdir and aggregator._summary_writer is not None
    with pytest.raises(TypeError):
        tf.data.Options().experimental_stats.aggregator = "none"


def test_map_and_batch_tells_the_time_of_each_call():
    made = told(lambda: numbers(99).apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 2)), 3)
    (times,) = [value for tag, value in made.items() if tag.startswith("MapAndBatch::")]
    assert times.num >= 6


def test_the_element_that_is_taken_was_in_the_buffer():
    made = told(lambda: numbers(99).prefetch(1), 3)
    (size,) = [value for tag, value in made.items() if tag.endswith("::buffer_size")]
    assert size == 1
