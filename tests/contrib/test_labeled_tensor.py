"""tf.contrib.labeled_tensor: axes matched by name, entries chosen by label."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import labeled_tensor as lt
from everflow.contrib.labeled_tensor import nn


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _a():
    return lt.LabeledTensor(tf.constant(np.arange(6.0, dtype="f").reshape(2, 3)), ["x", ("y", ["a", "b", "c"])])


def _b():
    return lt.LabeledTensor(tf.ones([3, 4]), [("y", ["a", "b", "c"]), "z"])


def _axes(tensor):
    return [(axis.name, axis.labels or axis.size) for axis in tensor.axes.values()]


def test_axes():
    assert lt.Axis("x", ["a", "b"]).index("b") == 1 and len(lt.Axis("x", 3)) == 3
    assert repr(lt.Axis("x", None)) == "Axis('x', Dimension(None))"
    assert lt.Axes([("x", 3), ("y", 2)]).remove("x") == lt.Axes([("y", 2)])
    for wrong in (
        lambda: lt.Axis("x", ["a", "a"]),
        lambda: lt.Axis("x", 3).index("a"),
        lambda: len(lt.Axis("x", None)),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(ValueError, match="'x'"):
        lt.Axes([("x", 3), ("x", 2)])
    with pytest.raises(TypeError, match="name of an axis"):
        lt.Axis(3, 2)


def test_a_labeled_tensor(sess):
    a = _a()
    assert a.dtype == tf.float32 and a.shape == [2, 3] and _axes(a) == [("x", 2), ("y", ("a", "b", "c"))]
    assert sess.run(a).shape == (2, 3)
    with pytest.raises(ValueError, match="2 dimensions, but 1"):
        lt.LabeledTensor(tf.ones([2, 3]), ["x"])
    with pytest.raises(ValueError, match="another size"):
        lt.LabeledTensor(tf.ones([3]), [("y", ["a"])])
    with pytest.raises(ValueError, match="names are not known"):
        lt.add(a, tf.ones([2, 3]))


def test_axes_are_matched_by_name(sess):
    total = _a() + _b()
    assert _axes(total) == _axes(_b() + _a()) == [("x", 2), ("y", ("a", "b", "c")), ("z", 4)]
    assert sess.run(total)[1, 2].tolist() == [6.0] * 4
    assert sess.run((2.0 - _a()) > 0.0).tolist() == [[True, True, False], [False] * 3]
    with pytest.raises(ValueError, match="axes 'y' differ"):
        lt.add(_a(), lt.LabeledTensor(tf.ones([1]), [("y", ["q"])]))
    with pytest.raises(lt.AxisOrderError, match="No order"):
        lt.add(_a(), lt.transpose(_a()))


def test_selections(sess):
    a = _a()
    assert sess.run(lt.select(a, {"y": "b"})).tolist() == [1.0, 4.0]
    chosen = lt.select(a, {"y": ["c", "a"]})
    assert _axes(chosen)[1] == ("y", ("c", "a")) and sess.run(chosen).tolist() == [[2.0, 0.0], [5.0, 3.0]]
    assert _axes(lt.select(a, {"y": slice("a", "b")}))[1] == ("y", ("a", "b"))
    assert sess.run(a[0, 1:]).tolist() == [1.0, 2.0] and _axes(a[0, 1:]) == [("y", ("b", "c"))]
    assert _axes(lt.slice(a, {"x": 0})) == [("y", ("a", "b", "c"))]
    kept = lt.boolean_mask(a, lt.constant([False, True], axes=["x"]))
    assert sess.run(kept).tolist() == [[3.0, 4.0, 5.0]]
    with pytest.raises(ValueError, match="has none"):
        lt.select(a, {"x": 0})
    with pytest.raises(ValueError, match="parts"):
        a[0]
    assert _axes(lt.random_crop(a, {"x": 1})) == [("x", 1), ("y", ("a", "b", "c"))]


def test_shapes(sess):
    a = _a()
    assert _axes(lt.transpose(a)) == _axes(lt.impose_axis_order(a, ["y", "x"])) == _axes(a)[::-1]
    assert _axes(lt.expand_dims(a, ["x", ("n", "label"), "y"]))[1] == ("n", ("label",))
    assert _axes(lt.concat([a, a], "x"))[0] == ("x", 4)
    assert _axes(lt.pack([a, a], ("n", ["u", "v"]), axis_position=1))[1] == ("n", ("u", "v"))
    assert [_axes(part) for part in lt.unpack(a, "y")] == [[("x", 2)]] * 3
    assert _axes(lt.reshape(a, ["x", "y"], ["n"])) == [("n", 6)]
    assert _axes(lt.rename_axis(a, "y", "w"))[1] == ("w", ("a", "b", "c"))
    assert _axes(lt.tile(a, {"x": 2}))[0] == ("x", 4)
    assert _axes(lt.pad(a, {"x": (1, 1), "y": (["q"], 0)})) == [("x", 4), ("y", ("q", "a", "b", "c"))]
    assert _axes(lt.squeeze(lt.slice(a, {"x": slice(0, 1)}))) == [("y", ("a", "b", "c"))]
    coder = lt.ReshapeCoder(["x", "y"], ["n"])
    assert _axes(coder.decode(coder.encode(a))) == _axes(a)
    for wrong in (
        lambda: lt.concat([a, a], "y"),
        lambda: lt.tile(a, {"y": 2}),
        lambda: lt.squeeze(a, ["x"]),
        lambda: lt.reshape(a, ["y", "x"], ["n"]),
        lambda: lt.ReshapeCoder(["x"], ["n"]).decode(a),
        lambda: lt.transpose(a, ["y"]),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_reductions_and_products(sess):
    a = _a()
    assert sess.run(lt.reduce_sum(a)) == 15.0 and sess.run(lt.reduce_max(a, "x")).tolist() == [3.0, 4.0, 5.0]
    assert _axes(lt.reduce_sum(a, [("x", "sum")]))[0] == ("x", ("sum",))
    product = lt.matmul(a, _b())
    assert _axes(product) == [("x", 2), ("z", 4)] and sess.run(product)[1].tolist() == [12.0] * 4
    assert sess.run(lt.matmul(a, lt.slice(_b(), {"z": 0}))).tolist() == [3.0, 12.0]
    with lt.axis_order_scope(["z", "x", "y"]):
        assert _axes(lt.matmul(a, lt.transpose(_b()))) == [("z", 4), ("x", 2)]
    with pytest.raises(NotImplementedError, match="share"):
        lt.matmul(a, a)
    with pytest.raises(ValueError, match="'q'"):
        lt.reduce_sum(a, "q")


def test_functions_over_the_first_axis(sess):
    a = _a()
    assert sess.run(lt.map_fn(lambda row: row * 2.0, a)).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    start = lt.constant([0.0, 0.0, 0.0], axes=[("y", ["a", "b", "c"])])
    assert sess.run(lt.foldl(lambda total, row: total + row, a, start)).tolist() == [3.0, 5.0, 7.0]


def test_orders():
    with tf.Graph().as_default():
        with pytest.raises(lt.AxisOrderError, match="not in the order"):
            lt.check_axis_order(_a(), ["y", "x"])
        with pytest.raises(lt.AxisOrderError, match="axis_order_scope"):
            lt.check_axis_order(_a())
        with lt.axis_order_scope(["y", "x"]):
            assert _axes(lt.impose_axis_order(_a()))[0][0] == "y"


def test_values(sess):
    a = _a()
    assert lt.cast(a, tf.int32).dtype == tf.int32 and _axes(lt.zeros_like(a)) == _axes(a)
    assert sess.run(lt.where(a > 2.0, a, lt.ones_like(a)))[0].tolist() == [1.0, 1.0, 1.0]
    assert sess.run(lt.verify_tensor_all_finite(a, "bad")).shape == (2, 3)
    assert _axes(lt.placeholder(tf.float32, ["batch", ("y", ["a"])])) == [("batch", None), ("y", ("a",))]
    assert sess.run(lt.define_unary_op("twice", lambda x, name: tf.multiply(x, 2.0, name=name))(a))[0, 1] == 2.0


def test_input():
    with tf.Graph().as_default():
        (batch,) = lt.batch([_a()], 2)
        (shuffled,) = lt.shuffle_batch([_a()], 2)
        assert _axes(batch) == _axes(shuffled) == [("batch", 2), *_axes(_a())]
        with pytest.raises(ValueError, match="'batch'"):
            lt.batch([_a()], 2, enqueue_many=True)
        example = tf.train.Example()
        example.features.feature["f"].float_list.value.extend([1.0, 2.0])
        text = example.SerializeToString()
        features = {"f": lt.FixedLenFeature([("x", 2)], tf.float32)}
        one = lt.parse_single_example(tf.constant(text), features)["f"]
        many = lt.parse_example(lt.constant([text], axes=["batch"]), features)["f"]
        with tf.Session() as sess:
            assert sess.run(one).tolist() == [1.0, 2.0] and _axes(many) == [("batch", 1), ("x", 2)]


def test_functions_of_nn():
    with tf.Graph().as_default(), tf.Session() as session:
        logits = lt.LabeledTensor(tf.constant([[-1.0, 2.0]]), ["batch", "x"])
        labels = lt.LabeledTensor(tf.constant([[0.0, 1.0]]), ["batch", "x"])
        assert session.run(nn.relu(logits).tensor).tolist() == [[0.0, 2.0]]
        loss = nn.sigmoid_cross_entropy_with_logits(logits, labels)
        assert list(loss.axes) == ["batch", "x"]
        np.testing.assert_allclose(session.run(loss.tensor), [[0.313262, 0.126928]], rtol=1e-5)


def test_entries_without_labels_leave_an_axis_without(sess):
    padded = lt.pad(_a(), {"x": (1, 0), "y": (1, 1)})
    assert _axes(padded) == [("x", 3), ("y", 5)]
    assert sess.run(tf.convert_to_tensor(padded)).shape == (3, 5)
    with pytest.raises(ValueError):
        lt.concat([_a()], "z")
    with pytest.raises(ValueError):
        lt.select(_a(), {"z": "a"})
