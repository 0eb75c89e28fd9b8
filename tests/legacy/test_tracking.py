"""Names of `training.tracking`: views of objects, savers of them, resources that are told to a tracker."""

import functools

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode

# isort: split
from tensorflow.python.training.tracking import base, graph_view, layer_utils, tracking, util


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def _root():
    root = tracking.AutoTrackable()
    root.a = tf.Variable(1.0, use_resource=True)
    root.held = [tf.Variable(2.0, use_resource=True)]
    return root


def test_a_view_of_objects():
    root = _root()
    view = graph_view.ObjectGraphView(root)
    assert [type(thing).__name__ for thing in view.list_objects()][2:] == ["ListWrapper", "ResourceVariable"]
    assert [child.name for child in view.list_dependencies(root)] == ["a", "held"] and view.root is root
    saveables, proto, feeds = view.serialize_object_graph()
    keys = ["a/.ATTRIBUTES/VARIABLE_VALUE", "held/0/.ATTRIBUTES/VARIABLE_VALUE"]
    assert [s.name for s in saveables] == keys and len(proto.nodes) == 4 and feeds is None
    assert [s.name for s in view.frozen_saveable_objects()] == [*keys, base.OBJECT_GRAPH_PROTO_KEY]
    objects, numbers, slots = view.objects_ids_and_slot_variables()
    assert numbers[id(root.a)] == 1 and objects[1] is root.a and not slots
    assert util._ObjectGraphProtoPrettyPrinter(proto).node_names[3] == "(root).held.0"
    assert graph_view._object_prefix_from_path([base.TrackableReference("a/x", 0)]) == "a.Sx"


def test_a_view_may_show_less(tmp_path):
    class OnlyA(graph_view.ObjectGraphView):
        def list_dependencies(self, obj):
            return [child for child in super().list_dependencies(obj) if child.name == "a"]

    path = util.TrackableSaver(OnlyA(_root())).save(str(tmp_path / "model"))
    names = [name for name, _ in tf.train.list_variables(path.numpy().decode())]
    assert names == [base.OBJECT_GRAPH_PROTO_KEY, "a/.ATTRIBUTES/VARIABLE_VALUE"]


def test_savers(tmp_path):
    root = _root()
    saver = util.saver_with_op_caching(root)
    path = saver.save(str(tmp_path / "model"), checkpoint_number=3)
    assert path.numpy().decode().endswith("model-3")
    root.a.assign(5.0)
    saver.restore(path).assert_consumed()
    assert root.a.numpy() == 1.0 and type(saver.restore(None)).__name__ == "InitializationOnlyStatus"
    frozen = util.frozen_saver(root)
    root.later = tf.Variable(3.0, use_resource=True)
    frozen.save(tf.constant(str(tmp_path / "frozen")))
    names = tf.train.list_variables(str(tmp_path / "frozen"))
    assert not any("later" in name for name, _ in names)


def test_initializers_of_a_graph():
    with tf.Graph().as_default():
        root = _root()
        assert util.gather_initializers(root) == [root.a.initializer, root.held[0].initializer]
    assert util.gather_initializers(_root()) == []


def test_variables_that_hang_on_an_object():
    root = _root()
    made = util.add_variable(root, "made", shape=[2], initializer=tf.ones_initializer())
    assert root._lookup_dependency("made") is made and made.numpy().tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="'made'"):
        util.add_variable(root, "made", shape=[2])


def test_strings_of_python_objects(tmp_path):
    class Counting(tracking.AutoTrackable):
        state = "7"

        def _gather_saveables_for_checkpoint(self):
            def restore(text):
                self.state = text

            saveable = functools.partial(
                base.PythonStringStateSaveable, state_callback=lambda: self.state, restore_callback=restore
            )
            return {"state": saveable}

    path = tf.train.Checkpoint(it=Counting()).save(str(tmp_path / "model"))
    other = Counting()
    other.state = "8"
    tf.train.Checkpoint(it=other).restore(path).assert_consumed()
    assert other.state == b"7"


def test_resources_are_told_to_trackers():
    made = []

    class Table(tracking.TrackableResource):
        def _create_resource(self):
            made.append(self)
            return tf.constant(5)

    outer, inner = tracking.ResourceTracker(), tracking.ResourceTracker()
    with tracking.resource_tracker_scope(outer):
        first = Table()
        with tracking.resource_tracker_scope(inner):
            second = Table()
    Table()
    assert outer.resources == [first, second] and inner.resources == [second] and not made
    assert first.resource_handle is first.resource_handle and made == [first]
    functions = first._list_functions_for_serialization({})
    assert functions["_create_resource"]().numpy() == 5 and functions["_initialize"]().numpy() == 1
    with pytest.raises(NotImplementedError, match="_create_resource"):
        tracking.CapturableResource().resource_handle  # noqa: B018


def test_a_resource_is_given_back():
    given = []
    deleter = tracking.CapturableResourceDeleter(lambda: given.append(1))
    deleter.destroy_resource()
    del deleter
    assert given == [1, 1]


def test_values_that_properties_keep():
    calls = []

    class Holder(tracking.AutoTrackable):
        @property
        @tracking.cached_per_instance
        def value(self):
            calls.append(self)
            return len(calls)

    one, other = Holder(), Holder()
    assert (one.value, one.value, other.value, one.value) == (1, 1, 2, 1)


def test_attributes_that_hang_there_no_more():
    root = _root()
    tracking.delete_tracking(root, "a")
    assert [child.name for child in root._checkpoint_dependencies] == ["held"] and root.a.numpy() == 1.0
    assert tracking.TrackableAsset("/a").asset_path.numpy() == b"/a"


def test_layers_and_what_holds_them():
    dense = tf.keras.layers.Dense(1)
    dense.build([None, 1])
    holder = tf.contrib.checkpoint.List([dense])
    assert layer_utils.has_weights(holder) and not layer_utils.has_weights(tracking.AutoTrackable())
    assert layer_utils.filter_empty_layer_containers([holder, tracking.AutoTrackable()]) == [dense]
    assert len(layer_utils.gather_trainable_weights(True, [dense], [])) == 2
    assert layer_utils.gather_trainable_weights(False, [dense], []) == []
    assert len(layer_utils.gather_non_trainable_weights(False, [dense], [])) == 2


def test_objects_of_a_checkpoint_by_names(tmp_path):
    v = tf.Variable(1.0, use_resource=True, name="v")
    path = tf.contrib.eager.Saver([v]).save(str(tmp_path / "named"))
    with pytest.raises(ValueError, match="names"):
        util.object_metadata(path)


def test_what_cannot_be_added_or_held():
    root = _root()
    util.add_variable(root, "once", initializer=1.0)
    with pytest.raises(ValueError, match="already declared"):
        util.add_variable(root, "once", shape=[])
    with pytest.raises(ValueError, match="do not specify shape"):
        util.add_variable(root, "twice", shape=[], initializer=1.0)

    class Neither(tracking.AutoTrackable, tracking.NotTrackable):
        pass

    root.neither = Neither()
    with pytest.raises(NotImplementedError, match="neither"):
        graph_view.ObjectGraphView(root).list_objects()
