"""Reports on pipelines: times belong to the stages that took them, and words to what was measured."""

import pytest

from everflow.kernels.data import stages
from everflow.kernels.data.datasets import Blocks, Dataset, End, Iteration, from_iterable
from everflow.kernels.data.stages import Stage, advice, report, watched


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until a stage moves it."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(stages, "time", made)
    monkeypatch.setattr(stages, "STAGES", [])
    return made


class Attr:
    def __init__(self, name):
        self.name = name


def drained(dataset):
    following, count = dataset.start(Iteration()), 0
    while True:
        try:
            following()
        except End:
            return count
        count += 1


def slow(dataset, clock, seconds):
    """A dataset that takes so long for each element."""

    def start(iteration):
        following = dataset.start(iteration)

        def slowly():
            element = following()
            clock.now += seconds
            return element

        return slowly

    return Dataset(start)


def test_each_stage_has_its_own_time(clock):
    source = slow(from_iterable(lambda: [(i,) for i in range(4)]), clock, 1.0)
    watched(source, "RangeDataset", [], {})
    mapped = slow(source, clock, 0.5)
    watched(mapped, "ParallelMapDataset", [source], {"f": Attr("__inference_Dataset_map_read_7")})
    assert drained(mapped) == 4
    assert (source.stage.name, source.stage.seconds, source.stage.elements) == ("range", 4.0, 4)
    assert (mapped.stage.name, mapped.stage.seconds, mapped.stage.seconds_with_inputs) == ("map(read)", 2.0, 6.0)
    text = report(stages.STAGES, 12.0)
    assert "4 elements; the program waited 6.00 s for them, 50% of its 12.0 s" in text
    assert "map(read)" in text and "several at a time" in text and "33%" in text and "67%" in text


def test_blocks_are_counted_by_their_elements(clock):
    def blocks():
        return Blocks(lambda iteration: lambda n: (list(range(n)),))

    dataset = Dataset(lambda iteration: None, blocks=blocks)
    watched(dataset, "TFRecordDataset", [], {})
    take = dataset.blocks.start(Iteration())
    take(30)
    take(10)
    assert (dataset.stage.elements, dataset.stage.calls, dataset.stage.in_blocks) == (40, 2, True)
    assert "many at a time, 20 on average" in report(stages.STAGES, 1.0)


def test_what_a_stage_makes_while_it_runs_is_below_it(clock):
    def start(iteration):
        def following():
            for _ in range(2):
                watched(from_iterable(lambda: []), "TextLineDataset", [], {})
            return (1,)

        return following

    outer = Dataset(start)
    watched(outer, "FlatMapDataset", [], {})
    outer.start(Iteration())()
    assert [s.name for s in outer.stage.inputs] == ["text_line"] and stages.STAGES == [outer.stage]


def test_a_dataset_that_passes_another_on_is_no_stage(clock):
    dataset = from_iterable(lambda: [])
    watched(dataset, "RangeDataset", [], {})
    watched(dataset, "ModelDataset", [dataset], {})
    assert [s.name for s in stages.STAGES] == ["range"]


def measured(name, seconds, inputs=(), is_parallel=False, **more):
    stage = Stage(name, inputs, is_parallel)
    stage.elements, stage.seconds = 10, seconds
    stage.seconds_with_inputs = seconds + sum(s.seconds_with_inputs for s in inputs)
    vars(stage).update(more)
    return stage


class Buffer:
    def __init__(self, asked, found_ready, size):
        self.asked, self.found_ready, self.size = asked, found_ready, size


def test_advice():
    def words(stage, seconds=10.0):
        return " ".join(advice(stage, seconds))

    assert "leave it as it is" in words(measured("batch", 0.1))
    assert ".prefetch(1)" in words(measured("batch", 5.0))
    assert "num_parallel_calls" in words(measured("map(f)", 5.0))
    assert "several calls at a time" in words(measured("map(f)", 5.0, is_parallel=True))
    assert "many elements at a time" in words(measured("map(f)", 5.0, in_blocks=True))
    empty = measured("prefetch", 1.0, [measured("generator", 5.0)], buffers=[Buffer(10, 1, 2)])
    assert "nearly empty" in words(empty) and "generator takes longest" in words(empty)
    full = measured("prefetch", 1.0, [measured("interleave", 5.0)], buffers=[Buffer(10, 19, 2)])
    assert words(full) == "interleave takes longest."


def test_a_program_without_input():
    assert report([], 1.0).startswith("No dataset and no queue gave an element.")
