"""What a failing node tells: the right exception, the op, its inputs and the line that built it."""

import pytest

import everflow as tf
from everflow.framework import errors
from everflow.framework import raw_ops as raw
from everflow.runtime.plan import failures
from everflow.runtime.plan.program import Node


def test_a_failing_kernel_names_op_inputs_and_line():
    a = tf.placeholder(tf.float32, [None, None], name="a")
    m = raw.MatMul(a=a, b=tf.constant([[1.0], [2.0], [3.0]], name="w"), name="net/product")  # here
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(m, {a: [[1.0, 2.0]]})
    e = caught.value
    assert e.op is m.op and e.node_def.name == "net/product" and e.error_code == 3
    assert "node net/product (defined at " in e.message and "test_failures.py:" in e.message
    assert "a:0  float32 [1, 2], fed" in e.message and "w:0  float32 [3, 1]" in e.message
    assert "# here" in str(e)
    assert e.__cause__ is None


def test_an_unfed_placeholder():
    a = tf.placeholder(tf.float32, [None, 2], name="a")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(raw.Neg(x=a))
    assert caught.value.message.startswith(
        "You must feed a value for placeholder tensor 'a' with dtype float and shape [?,2]"
    )
    assert caught.value.op is a.op


def test_an_op_type_without_kernel_is_unimplemented(monkeypatch):
    from everflow.kernels import registry

    registry.load_all()
    monkeypatch.delitem(registry._kernels, "Cos")
    y = raw.Cos(x=tf.placeholder_with_default(1.0, []), name="y")
    with tf.Session() as sess, pytest.raises(tf.errors.UnimplementedError, match="'Cos' has no kernel"):
        sess.run(y)


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (errors.OutOfRangeError(None, None, "end"), errors.OutOfRangeError),
        (RuntimeError("shapes"), errors.InvalidArgumentError),
        (NotImplementedError("no"), errors.UnimplementedError),
        (MemoryError(), errors.ResourceExhaustedError),
        (RuntimeError("DefaultCPUAllocator: not enough memory"), errors.ResourceExhaustedError),
        (KeyError("x"), errors.InternalError),
    ],
)
def test_kinds_of_errors(monkeypatch, raised, kind):
    from everflow.kernels import registry

    def fail(x):
        raise raised

    registry.load_all()
    monkeypatch.setitem(registry._kernels, "Cos", registry.Kernel(fail, (), ()))
    y = raw.Cos(x=tf.placeholder(tf.float32, [], name="x"))
    with tf.Session() as sess, pytest.raises(kind) as caught:
        sess.run(y, {"x:0": 1.0})
    assert type(caught.value) is kind and caught.value.op is y.op


def test_errors_from_elsewhere_stay_as_they_are():
    class Emitted:
        code = None

    error = ValueError("x")
    assert failures.translated(error, Emitted) is error


def test_a_session_goes_on_after_a_failure():
    x = tf.placeholder(tf.float32, [None])
    y = raw.Reshape(tensor=x, shape=tf.constant([2]))
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(y, {x: [1.0]})
        assert list(sess.run(y, {x: [1.0, 2.0]})) == [1, 2]


def test_absurd_sizes_are_resource_errors():
    huge = raw.Fill(
        dims=tf.placeholder_with_default(tf.constant([1 << 40, 1 << 20], tf.int64), [2]), value=tf.constant(1.0)
    )
    with (
        tf.Session() as sess,
        pytest.raises((tf.errors.ResourceExhaustedError, tf.errors.InvalidArgumentError)) as caught,
    ):
        sess.run(raw.Neg(x=huge))
    assert caught.value.op is huge.op


def test_mistakes_of_kernels_keep_their_traceback(monkeypatch):
    from everflow.kernels import registry

    registry.load_all()
    monkeypatch.setitem(registry._kernels, "Cos", registry.Kernel(lambda x: x.no_such_thing, (), ()))
    y = raw.Cos(x=tf.placeholder_with_default(1.0, []))
    with tf.Session() as sess, pytest.raises(tf.errors.InternalError) as caught:
        sess.run(y)
    assert isinstance(caught.value.__cause__, AttributeError) and "no_such_thing" in caught.value.message


@pytest.mark.parametrize(("code", "kind"), [(3, errors.InvalidArgumentError), (99, errors.OpError)])
def test_an_error_while_a_kernel_is_bound_keeps_its_code(code, kind):
    """Also where it is a plain OpError, or of a code that has no class."""
    node = Node(0, tf.constant(1.0, name="c").op, "c", "Const")
    found = failures.refused(errors.OpError(None, None, "not today", code), node)
    assert type(found) is kind and found.error_code == code
    assert found.op is node.op and "not today" in found.message and "[[node c (defined at " in found.message


def test_more_than_any_memory_holds():
    with tf.Session() as sess, pytest.raises(tf.errors.ResourceExhaustedError):
        sess.run(tf.pad([[1.0, 2.0]], tf.placeholder_with_default([[0, 2**30], [0, 2**31 - 1]], [2, 2])))
