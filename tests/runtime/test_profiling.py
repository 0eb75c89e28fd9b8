"""What is written into a profile between its beginning and its end."""

from everflow.protos import config_pb2
from everflow.runtime.profiling import Recorder


def test_events_of_one_profile_are_not_in_the_next():
    recorder = Recorder()
    assert recorder.end() is None
    assert recorder.begin() and not recorder.begin()
    recorder.record("a", "Add", 5, 9)
    began, events = recorder.end()
    assert began > 0
    assert [(event.name, event.kind, event.start, event.end) for event in events] == [("a", "Add", 5, 9)]
    assert recorder.begin()
    assert recorder.end()[1] == []


def test_a_run_is_there_as_a_whole_and_by_its_nodes():
    recorder, metadata = Recorder(), config_pb2.RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/cpu:0")
    device.node_stats.add(node_name="y", timeline_label="y = Exp(x)", all_start_micros=2, all_end_rel_micros=3)
    device.node_stats.add(node_name="z", all_start_nanos=7, all_end_rel_nanos=1)
    recorder.begin()
    recorder.record_run(metadata, 1000, 6000)
    found = [(event.name, event.kind, event.start, event.end) for event in recorder.end()[1]]
    assert found == [("SessionRun", "SessionRun", 1000, 6000), ("y", "Exp", 2000, 5000), ("z", "z", 7, 8)]
