"""Bodies of traced functions: what they capture, in what order their ops with state run, and who knows them."""

import pytest

import everflow as tf
from everflow.ops.functions import bodies

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.fixture
def body():
    return bodies.BodyGraph("body", tf.get_default_graph())


def test_tensors_from_outside_come_in_once(body):
    outside = tf.constant(2.0, name="outside")
    with body.as_default():
        result = outside * outside
    assert body.external_captures == [outside]
    stand_in = dict(body.captures)[outside]
    assert stand_in.op.type == "Placeholder" and stand_in.graph is body
    assert list(result.op.inputs) == [stand_in, stand_in]


def test_variables_and_trainable_ones_are_shared_with_the_graph_around(body):
    v = tf.get_variable("v", [], use_resource=True)
    w = tf.get_variable("w", [], use_resource=True, trainable=False)
    with body.as_default():
        assert tf.global_variables() == [v, w]
        tf.add_to_collection("mine", 1)
        v.read_value(), w.read_value()
    assert body.variables == (v, w) and body.trainable_variables == (v,)
    assert tf.get_collection("mine") == []


def test_uses_of_one_resource_run_in_the_order_in_which_they_were_made(body):
    v, w = (tf.get_variable(name, [], use_resource=True) for name in "vw")
    with body.as_default():
        first, other, second = v.assign(1.0).op, w.assign(2.0).op, v.assign_add(1.0).op
        controls = bodies.order_stateful_ops(body)
    writes = [op for op in body.get_operations() if op.type.startswith("Assign")]
    assert len(writes) == 3 and set(writes) <= set(controls)
    assert writes[0] in _behind(writes[2]) and writes[1] not in _behind(writes[2])
    assert first and other and second


def _behind(op):
    """All ops that an op waits for."""
    found, waiting = set(), [op]
    while waiting:
        for before in [*waiting.pop().control_inputs]:
            if before not in found:
                found.add(before)
                waiting.append(before)
    return found


def test_random_numbers_and_placeholders_wait_for_nobody(body):
    with body.as_default():
        tf.random_uniform([2])
        tf.placeholder(tf.float32)
        said = tf.print("a")
        again = tf.print("b")
    assert bodies.stateful_ops(body) == [said, again]
    assert bodies.order_stateful_ops(body) == sorted([said, again], key=lambda op: op.name)
    assert said in again.control_inputs


def test_results_wait_for_what_has_to_run(body):
    with body.as_default():
        said = tf.print("a")
        [result] = bodies.returned(body, [tf.constant(1.0)])
    assert result.op.type == "Identity" and result.op.control_inputs == [said]
    body.orders_state = False
    with body.as_default():
        same = tf.constant(2.0)
        assert bodies.finished(body, [same]) == [same]


def test_a_function_is_known_to_all_graphs_around(body):
    inner = bodies.BodyGraph("inner", body)
    with inner.as_default():
        x = inner.add_input(tf.float32, "x", [])
        made = bodies.define(inner.body([x], [x * 2.0]), bodies.unique_name("double"), body)
    for graph in (body, tf.get_default_graph()):
        assert graph._is_function(made.name)


def test_names_of_functions_are_never_given_twice():
    assert len({bodies.unique_name("f") for _ in range(5)}) == 5


def test_an_op_grows_inputs_and_outputs(sess):
    @tf.function(autograph=False)
    def double(x):
        return x * 2.0

    op = double(tf.constant(1.0)).op
    extra = tf.constant([1.0, 2.0])
    [made] = bodies.grow(op, outputs=[extra], inputs=[extra], _mark=True)
    assert made.op is op and made.value_index == 1 and made.shape.as_list() == [2]
    assert op.inputs[-1] is extra and op in extra.consumers() and op.get_attr("_mark")


def test_a_further_input_of_a_drawn_body(body):
    v = tf.get_variable("v", [2, 3], use_resource=True)
    holder = bodies.add_placeholder(body, v.handle)
    assert holder.dtype == tf.resource and holder.graph is body
    with body.as_default():
        read = tf.raw_ops.ReadVariableOp(resource=holder, dtype=tf.float32)
    assert read.shape.as_list() == [2, 3]
    assert bodies.add_placeholder(body, v.handle, tf.variant).shape.as_list() == []


@pytest.mark.parametrize(
    "change", [lambda w: w.assign([1.0]), lambda w: tf.assign_add(w, [1.0]), lambda w: tf.scatter_update(w, [0], [1.0])]
)
def test_functions_dont_change_variables_of_which_they_have_the_value(change):
    with tf.Graph().as_default(), tf.Session() as session:
        reference = tf.get_variable("reference", [1], use_resource=False)
        with pytest.raises(TypeError, match="use_resource"):
            tf.function(lambda: change(reference))()
        resource = tf.get_variable("resource", [1], use_resource=True)
        session.run(resource.initializer)
        session.run(tf.function(lambda: resource.assign([2.0]))())
        assert session.run(resource).tolist() == [2.0]
