"""Objects with variables and traced functions as SavedModels, and back."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import disable_eager_execution, eager_mode, enable_eager_execution
from everflow.ops.functions.defun import Defun
from everflow.ops.functions.resources import TrackableAsset
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.saved_model import loader


class Affine(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable([1.0, 2.0], name="scale")
        self.more = [tf.Variable(3.0)]
        self.named = {"a": tf.Variable(1)}
        self.offset = tf.constant([5.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="inp")])
    def f(self, x):
        return {"out": x * self.scale + self.offset}

    @tf.function
    def g(self, x, k=2):
        return x * float(k) + self.more[0], [x]


@pytest.fixture
def eager():
    resources = tf.resource_variables_enabled()
    tf.reset_default_graph()
    enable_eager_execution()
    try:
        yield
    finally:
        disable_eager_execution()
        if not resources:
            tf.disable_resource_variables()


@pytest.fixture
def folder(eager, tmp_path):
    model = Affine()
    model.g(tf.ones([3]))
    model.g(tf.ones([3]), k=3)
    tf.saved_model.save(model, str(tmp_path / "model"))
    return str(tmp_path / "model")


def test_a_loaded_object_has_variables_and_functions(folder):
    loaded = tf.saved_model.load_v2(folder)
    np.testing.assert_array_equal(loaded.f(tf.ones([1, 2]))["out"], [[6.0, 7.0]])
    np.testing.assert_array_equal(loaded.g(tf.ones([3]))[0], [5.0] * 3)
    np.testing.assert_array_equal(loaded.g(tf.ones([3]), k=3)[0], [6.0] * 3)
    assert loaded.more[0].numpy() == 3.0 and loaded.named["a"].numpy() == 1
    loaded.scale.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(loaded.f(tf.ones([1, 2]))["out"], [[7.0, 8.0]])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(loaded.f(tf.ones([3, 2]))["out"])
    np.testing.assert_array_equal(tape.gradient(total, loaded.scale), [3.0, 3.0])


def test_signatures_are_called_by_name(folder):
    serve = tf.saved_model.load_v2(folder).signatures["serving_default"]
    np.testing.assert_array_equal(serve(inp=tf.ones([1, 2]))["out"], [[6.0, 7.0]])
    with pytest.raises(TypeError, match="inp"):
        serve(x=tf.ones([1, 2]))


def test_only_what_was_traced_can_be_called(folder):
    loaded = tf.saved_model.load_v2(folder)
    with pytest.raises(ValueError, match="Could not find matching function"):
        loaded.g(tf.ones([4]))
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        loaded.f(tf.ones([4]))


def test_what_was_loaded_can_be_saved(folder, tmp_path):
    loaded = tf.saved_model.load_v2(folder)
    loaded.scale.assign([0.0, 1.0])
    tf.saved_model.save(loaded, str(tmp_path / "again"))
    again = tf.saved_model.load_v2(str(tmp_path / "again"))
    np.testing.assert_array_equal(again.f(tf.ones([1, 2]))["out"], [[5.0, 6.0]])


def test_loaders_without_objects_serve_it(folder):
    with tf.Graph().as_default(), tf.Session() as sess:
        signature = tf.saved_model.loader.load(sess, ["serve"], folder).signature_def["serving_default"]
        found = sess.run(signature.outputs["out"].name, {signature.inputs["inp"].name: [[1.0, 1.0]]})
        np.testing.assert_array_equal(found, [[6.0, 7.0]])


def test_loading_into_a_graph(folder):
    with tf.Graph().as_default(), tf.Session() as sess:
        result = tf.saved_model.load_v2(folder).f(tf.ones([2, 2]))["out"]
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(result), [[6.0, 7.0]] * 2)


def test_saving_from_a_graph(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        model = tf.Module()
        model.v = tf.Variable(3.0, use_resource=True)
        model.f = tf.function(lambda x: x * model.v, input_signature=[tf.TensorSpec([], tf.float32)])
        sess.run(model.v.initializer)
        tf.saved_model.save(model, str(tmp_path))
    with tf.Graph().as_default(), tf.Session() as sess:
        result = tf.saved_model.load_v2(str(tmp_path), tags="serve").f(2.0)
        sess.run(tf.global_variables_initializer())
        assert sess.run(result) == 6.0


def test_what_cannot_be_saved(eager, tmp_path):
    path = str(tmp_path)
    with pytest.raises(ValueError, match="Expected a Trackable object for export, got 3"):
        tf.saved_model.save(3, path)
    model, loose = tf.Module(), tf.Variable(1.0)
    model.f = tf.function(lambda x: x * loose, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(AssertionError, match="untracked"):
        tf.saved_model.save(model, path)
    model.f = tf.function(lambda x: {"a": [x]}, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(ValueError, match="a signature gives a tensor"):
        tf.saved_model.save(model, path, signatures=model.f)
    with pytest.raises(ValueError, match="input signature"):
        tf.saved_model.save(model, path, signatures=tf.function(lambda x: x))


def test_what_cannot_be_loaded(folder):
    with pytest.raises(ValueError, match="incompatible argument tags"):
        tf.saved_model.load_v2(folder, tags=["other"])
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.load_v2(folder + "/nothing")


def test_what_a_saved_model_refuses(tmp_path):
    with eager_mode():
        root = AutoTrackable()
        root.f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.float32)])
        root.f.get_concrete_function().graph.mark_as_unsaveable("it reads the clock")
        with pytest.raises(ValueError, match="reads the clock"):
            tf.saved_model.save(root, str(tmp_path / "marked"))
        moved = AutoTrackable()
        moved.several = [tf.Variable(1.0)]
        moved.several[0] = 3
        with pytest.raises(ValueError, match="Unable to save"):
            tf.saved_model.save(moved, str(tmp_path / "moved"))


def test_signatures_stay_as_they_are(tmp_path):
    with eager_mode():
        root = AutoTrackable()
        root.f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([], tf.float32)])
        tf.saved_model.save(root, str(tmp_path / "model"), root.f)
        loaded = tf.saved_model.load_v2(str(tmp_path / "model"))
        with pytest.raises(TypeError):
            loaded.signatures["other"] = root.f
        assert list(loaded.signatures) == ["serving_default"]


_NUMBER = tf.TensorSpec([], tf.float32)


def test_arguments_in_a_list_have_numbered_names(tmp_path):
    with eager_mode():
        root = AutoTrackable()
        root.f = tf.function(lambda inputs: inputs[0] + inputs[1], input_signature=[[_NUMBER, _NUMBER]])
        tf.saved_model.save(root, str(tmp_path), signatures=root.f)
        assert list(tf.saved_model.load_v2(str(tmp_path)).signatures["serving_default"]._arg_keywords) == [
            "inputs",
            "inputs_1",
        ]


def test_what_functions_use_must_be_reachable(tmp_path):
    with eager_mode():
        root, loose = AutoTrackable(), tf.Variable(1.0)
        root.f = tf.function(lambda x: x * loose, input_signature=[_NUMBER])
        with pytest.raises(KeyError, match="not reachable from root"):
            tf.saved_model.save(root, str(tmp_path), signatures={})
        with tf.Graph().as_default():
            drawn = tf.constant(1.0) + 1.0
        root.f = tf.function(lambda: drawn * 1.0, input_signature=[])
        with pytest.raises(ValueError, match="symbolic"):
            tf.saved_model.save(root, str(tmp_path))


def test_an_attribute_called_signatures_is_in_the_way(tmp_path):
    with eager_mode():
        root = tf.train.Checkpoint(signatures=tf.Variable(1.0))
        with pytest.raises(ValueError, match=r"del obj\.signatures"):
            tf.saved_model.save(root, str(tmp_path))
        del root.signatures
        root = tf.train.Checkpoint(f=tf.function(lambda: 1.0, input_signature=[]))
        tf.saved_model.save(root, str(tmp_path))
        assert tf.saved_model.load_v2(str(tmp_path)).f().numpy() == 1.0


def test_a_signature_may_return_the_path_of_a_file(tmp_path):
    (tmp_path / "words.txt").write_text("a")
    with eager_mode():
        root = AutoTrackable()
        root.file = TrackableAsset(str(tmp_path / "words.txt"))
        root.f = tf.function(lambda: root.file.asset_path, input_signature=[])
        tf.saved_model.save(root, str(tmp_path / "model"), signatures=root.f)
    with tf.Graph().as_default(), tf.Session() as sess:
        model = tf.saved_model.load(sess, ["serve"], str(tmp_path / "model"))
        path = sess.run(model.signature_def["serving_default"].outputs["output_0"].name)
    assert path.endswith(b"model/assets/words.txt")


def test_attributes_that_have_their_defaults_are_left_out_of_functions_too(tmp_path):
    with eager_mode():
        root = AutoTrackable()
        root.f = tf.function(lambda x: tf.complex(x, x), input_signature=[_NUMBER])
        tf.saved_model.save(root, str(tmp_path))
    (meta,) = loader.parse_saved_model(str(tmp_path)).meta_graphs
    nodes = [node for f in meta.graph_def.library.function for node in f.node_def if node.op == "Complex"]
    assert nodes and not any("T" in node.attr for node in nodes)


def test_ragged_and_sparse_arguments_and_results(tmp_path):
    with eager_mode():
        root = AutoTrackable()
        root.f = tf.function(lambda x: x * 2)
        root.g = tf.function(tf.sparse.to_dense)
        rows, dots = tf.ragged.constant([[1, 2], [3]]), tf.SparseTensor([[0]], [1], [2])
        root.f(rows), root.g(dots)
        tf.saved_model.save(root, str(tmp_path))
        loaded = tf.saved_model.load_v2(str(tmp_path))
        assert loaded.f(rows).to_list() == [[2, 4], [6]]
        assert loaded.g(dots).numpy().tolist() == [1, 0]
        with pytest.raises(ValueError, match="Could not find matching function"):
            loaded.f(dots)


def test_a_variable_of_open_shape_stays_so(tmp_path):
    with eager_mode():
        root = AutoTrackable()
        root.v = tf.Variable(np.zeros([1, 2]), shape=tf.TensorShape([None, 2]), use_resource=True)
        tf.saved_model.save(root, str(tmp_path))
        loaded = tf.saved_model.load_v2(str(tmp_path))
        assert loaded.v.shape.as_list() == [None, 2]
        loaded.v.assign(np.ones([3, 2]))
        assert loaded.v.numpy().shape == (3, 2)


def test_functions_that_are_called_by_ops_of_their_names_are_saved_too(tmp_path):
    @Defun(tf.float32)
    def thrice(x):
        return x * 3.0

    with eager_mode():
        root = AutoTrackable()
        root.f = tf.function(lambda x: thrice(x), input_signature=[_NUMBER])
        tf.saved_model.save(root, str(tmp_path))
        assert tf.saved_model.load_v2(str(tmp_path)).f(tf.constant(2.0)).numpy() == 6.0
