"""import_graph_def: what it makes, what it refuses, and that broken GraphDefs never do worse than raise."""

import random

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import example, given, settings
from hypothesis import strategies as st

import everflow as tf
from everflow.protos import op_def_pb2

PLACEHOLDER = 'node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'
NEG = 'node { name: "n" op: "Neg" input: "p" attr { key: "T" value { type: DT_FLOAT } } }'


def parsed(text):
    return text_format.Parse(text + " versions { producer: 134 }", tf.GraphDef())


def test_nodes_get_the_scope_and_elements_are_returned():
    with tf.Graph().as_default() as graph:
        n, p = tf.import_graph_def(parsed(NEG + PLACEHOLDER), return_elements=["n:0", "p"])
        assert [op.name for op in graph.get_operations()] == ["import/p", "import/n"]
        with tf.Session() as sess:
            assert sess.run(n, {p.outputs[0]: 2.0}) == -2.0


def test_input_map_takes_the_place_of_a_tensor():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([1.0, -2.0])
        (n,) = tf.import_graph_def(parsed(PLACEHOLDER + NEG), input_map={"p:0": x}, return_elements=["n:0"])
        assert np.array_equal(sess.run(n), [-1.0, 2.0])


BROKEN = {
    "a node twice": PLACEHOLDER + PLACEHOLDER,
    "an input that is not there": NEG,
    "an output that is not there": PLACEHOLDER + NEG.replace('"p"', '"p:7"'),
    "another type than the input's": PLACEHOLDER + NEG.replace("DT_FLOAT", "DT_INT32"),
    "an attribute missing": PLACEHOLDER + 'node { name: "n" op: "Neg" input: "p" }',
    "an attribute too many": PLACEHOLDER + NEG.replace("attr {", 'attr { key: "zz" value { i: 1 } } attr {'),
    "an attribute of another kind": PLACEHOLDER + NEG.replace("type: DT_FLOAT", "i: 1"),
    "an input too many": PLACEHOLDER + NEG.replace('input: "p"', 'input: "p" input: "p"'),
    "a cycle": NEG.replace('"p"', '"m"') + NEG.replace('"n"', '"m"').replace('"p"', '"n"'),
    "a name with spaces": PLACEHOLDER.replace('"p"', '"a b"'),
    "no name": PLACEHOLDER.replace('"p"', '""'),
    "a name that climbs": PLACEHOLDER.replace('"p"', '"../../etc/passwd"').replace("..", "_.."),
    "a control input before data": PLACEHOLDER + NEG.replace('input: "p"', 'input: "^p" input: "p"'),
    "colocation with nobody": PLACEHOLDER.replace(
        "attr {", 'attr { key: "_class" value { list { s: "loc:@zz" } } } attr {'
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_graph_is_refused_and_says_where(what):
    with tf.Graph().as_default(), pytest.raises(ValueError) as raised:
        tf.import_graph_def(parsed(BROKEN[what]))
    assert str(raised.value)


def test_an_unknown_op_type_is_named():
    with tf.Graph().as_default(), pytest.raises(tf.errors.NotFoundError, match="Zork"):
        tf.import_graph_def(parsed('node { name: "z" op: "Zork" }'))


def test_a_constant_that_claims_an_absurd_size_asks_for_no_memory():
    text = """node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 9000000000000000 } } } } } }"""
    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises((ValueError, MemoryError, tf.errors.OpError)):
        (c,) = tf.import_graph_def(parsed(text), return_elements=["c:0"])
        sess.run(c)


def _sound_graph():
    """A GraphDef with branches, a loop, variables and strings."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        v = tf.Variable(tf.ones([2, 2]), name="v")
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.matmul(x, v), lambda: -x)
        tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 2.0), [tf.constant(0), y])
        tf.strings.join([tf.constant("a"), tf.as_string(tf.shape(y)[0])], name="text")
        return graph.as_graph_def()


_SOUND = _sound_graph()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_damaged_graphs_raise_and_nothing_else(seed, changes):
    """Bytes of a sound GraphDef changed at random: it is no proto any more, is refused, or is imported."""
    rng = random.Random(seed)
    data = bytearray(_SOUND.SerializeToString())
    for _ in range(changes):
        data[rng.randrange(len(data))] = rng.randrange(256)
    graph_def = tf.GraphDef()
    try:
        graph_def.ParseFromString(bytes(data))
    except Exception:  # not a proto: nothing to import
        return
    with tf.Graph().as_default():
        try:
            tf.import_graph_def(graph_def)
        except (ValueError, TypeError, tf.errors.OpError):
            pass


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
@example(48823179)  # a loop's Merge that takes nothing from outside
@example(823368481)  # one that waits for the loop's end
def test_rewired_graphs_raise_and_nothing_else(seed):
    """Inputs and attributes of a sound GraphDef exchanged at random."""
    rng = random.Random(seed)
    graph_def = tf.GraphDef()
    graph_def.CopyFrom(_SOUND)
    nodes = graph_def.node
    for _ in range(rng.randrange(1, 4)):
        node, other = rng.choice(nodes), rng.choice(nodes)
        kind = rng.randrange(5)
        if kind == 0 and node.input:
            node.input[rng.randrange(len(node.input))] = f"{other.name}:{rng.randrange(3)}"
        elif kind == 1:
            node.op = other.op
        elif kind == 2 and other.attr:
            key = rng.choice(sorted(other.attr))
            node.attr[key].CopyFrom(other.attr[key])
        elif kind == 3 and node.attr:
            del node.attr[rng.choice(sorted(node.attr))]
        else:
            node.input.append("^" + other.name)
    with tf.Graph().as_default():
        try:
            tf.import_graph_def(graph_def)
        except (ValueError, TypeError, tf.errors.OpError):
            pass


_COLOCATED = """
node { name: "init" op: "NoOp" attr { key: "_class" value { list { s: "loc:@v" } } } }
node { name: "v" op: "NoOp" device: "/cpu:0" attr { key: "_class" value { list { s: "loc:@v" } } } }
node { name: "read" op: "NoOp" device: "/cpu:1" attr { key: "_class" value { list { s: "loc:@nowhere" s: "loc:@init" } } } }
node { name: "nowhere" op: "NoOp" device: "/cpu:2" attr { key: "_class" value { list { s: "loc:@free" } } } }
node { name: "free" op: "NoOp" }
"""


def test_colocated_nodes_are_where_the_others_are():
    with tf.Graph().as_default() as g:
        tf.import_graph_def(parsed(_COLOCATED), name="")
    where = {op.name: op.device for op in g.get_operations()}
    assert where == {"init": "/device:CPU:0", "v": "/device:CPU:0", "read": "/device:CPU:0", "nowhere": "", "free": ""}


def test_a_device_scope_asks_only_nodes_that_are_alone():
    with tf.Graph().as_default() as g, tf.device("/job:ps/cpu:3"):
        tf.import_graph_def(parsed(_COLOCATED), name="")
    where = {op.name: op.device for op in g.get_operations()}
    assert where["v"] == where["init"] == where["read"] == "/job:ps/device:CPU:0"
    assert where["nowhere"] == where["free"] == "/job:ps/device:CPU:3"


@pytest.mark.parametrize("element", ["missing:0", "missing", "^b", "b:x"])
def test_a_return_element_that_is_not_there_leaves_the_graph_as_it_was(element):
    with tf.Graph().as_default() as source:
        tf.identity(tf.placeholder(tf.float32, [2], name="a"), name="b")
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="not found in graph def|Cannot convert"):
            tf.import_graph_def(source.as_graph_def(), return_elements=["b", element])
        assert graph.get_operations() == []


def test_an_output_that_is_not_there_cannot_be_mapped():
    with tf.Graph().as_default() as source:
        tf.identity(tf.placeholder(tf.float32, [2], name="a"), name="b")
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"not found in graph_def: \[a:2\]"):
            tf.import_graph_def(source.as_graph_def(), input_map={"a:2": tf.zeros([2])})
        tf.import_graph_def(source.as_graph_def(), input_map={"b:0": tf.zeros([2])})  # nobody uses it, but it exists


@pytest.mark.parametrize("text", [BROKEN["an output that is not there"], BROKEN["another type than the input's"]])
def test_a_graph_is_as_it_was_when_an_import_fails(text):
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        with pytest.raises(ValueError):
            tf.import_graph_def(parsed(text), name="")
        with pytest.raises(ValueError, match="Invalid return output"):
            tf.import_graph_def(parsed(PLACEHOLDER + NEG), return_elements=["n:1"], name="", input_map={"p:0": x})
        assert graph.get_operations() == [x.op] and x.consumers() == []
        assert tf.placeholder(tf.float32, name="p").name == "p:0"


def test_a_file_for_newer_versions_is_refused_and_an_older_one_makes_the_graph_older():
    with tf.Graph().as_default() as graph:
        newer, older = parsed(PLACEHOLDER), parsed(PLACEHOLDER)
        newer.versions.min_consumer = 100000
        older.versions.producer = 20
        with pytest.raises(ValueError, match="above current version"):
            tf.import_graph_def(newer)
        assert graph.graph_def_versions.producer == tf.GRAPH_DEF_VERSION
        tf.import_graph_def(older)
        assert graph.graph_def_versions.producer == 20


def test_imported_nodes_are_colocated_as_the_scope_around_says():
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:3"):
            a = tf.constant(1.0, name="a")
        with tf.colocate_with(a):
            tf.import_graph_def(parsed(PLACEHOLDER + NEG.replace('op: "Neg"', 'op: "Neg" device: "/cpu:0"')))
        for op in graph.get_operations()[1:]:
            assert op.colocation_groups() == [b"loc:@a"] and op.device == "/device:CPU:3"


def test_a_function_of_the_same_name_must_be_the_same():
    from everflow.ops.functions.defun import Defun

    with tf.Graph().as_default() as other:
        Defun(tf.float32, func_name="Same")(lambda x: x + 1.0)(tf.constant(1.0))
    with tf.Graph().as_default() as graph:
        Defun(tf.float32, func_name="Same")(lambda x: x)(tf.constant(1.0))
        with pytest.raises(ValueError, match="different function with the same name"):
            tf.import_graph_def(other.as_graph_def())
        tf.import_graph_def(graph.as_graph_def())
        assert len(graph.as_graph_def().library.function) == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"graph_def": 3}, TypeError),
        ({"input_map": [1]}, TypeError),
        ({"input_map": {1: 2}}, TypeError),
        ({"input_map": {"p:0": [1.0]}, "name": ""}, ValueError),  # no scope to convert it in
        ({"input_map": {"p:0": 1}}, ValueError),
        ({"return_elements": [3]}, TypeError),
        ({"return_elements": ["n:x"]}, ValueError),
        ({"name": "a b"}, ValueError),
        ({"producer_op_list": 3}, TypeError),
    ],
    ids=str,
)
def test_arguments_are_looked_at_before_anything_is_made(arguments, error):
    with tf.Graph().as_default() as graph:
        with pytest.raises(error):
            tf.import_graph_def(**{"graph_def": parsed(PLACEHOLDER + NEG), **arguments})
        assert not [op for op in graph.get_operations() if op.type in ("Placeholder", "Neg")]


def test_a_tensor_that_was_mapped_and_is_not_there_is_told_of_when_all_is_made():
    """As in TensorFlow, which leaves the nodes in the graph."""
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="nobody:0"):
            tf.import_graph_def(parsed(PLACEHOLDER + NEG), input_map={"nobody:0": 1.0})
        assert [op.name for op in graph.get_operations()][-2:] == ["import/p", "import/n"]


def test_values_become_tensors_and_names_may_be_bytes():
    with tf.Graph().as_default():
        options = {"input_map": {b"p:0": [1.0, 2.0]}, "return_elements": (b"n:0",)}
        (n,) = tf.import_graph_def(parsed(PLACEHOLDER + NEG), **options)
        assert n.op.inputs[0].op.name == "import/_inputs/Const"


def test_a_graph_of_another_librarys_message_class():
    class GraphDef:
        def SerializeToString(self):
            return parsed(PLACEHOLDER).SerializeToString()

    with tf.Graph().as_default() as graph:
        tf.import_graph_def(GraphDef(), name="")
        assert [op.name for op in graph.get_operations()] == ["p"]


def test_names_of_scopes():
    with tf.Graph().as_default() as graph:
        for name in ("a", "a", "a/", ""):
            tf.import_graph_def(parsed(PLACEHOLDER), name=name)
        assert [op.name for op in graph.get_operations()] == ["a/p", "a_1/p", "a/p_1", "p"]


@pytest.mark.parametrize(("value", "known"), [(3, True), (4, False)])
def test_an_attribute_of_a_newer_producer_may_be_left_at_its_default(value, known):
    graph_def = parsed(PLACEHOLDER + NEG)
    graph_def.node[1].attr["new"].i = value
    producer = op_def_pb2.OpList()
    producer.op.add(name="Neg").attr.add(name="new", type="int").default_value.i = 3
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="attr 'new' not in op type Neg"):
            tf.import_graph_def(graph_def)
        if known:
            (n,) = tf.import_graph_def(graph_def, producer_op_list=producer, return_elements=["n"])
            assert "new" not in n.attrs
        else:
            with pytest.raises(ValueError, match="attr 'new'"):
                tf.import_graph_def(graph_def, producer_op_list=producer)


@pytest.mark.parametrize(("shapes", "found"), [([], None), ([[3]], [3]), ([[3], [4]], [3]), ([[None, 2]], [None, 2])])
def test_shapes_that_a_file_claims(shapes, found):
    graph_def = parsed(PLACEHOLDER + NEG)
    for shape in shapes:
        graph_def.node[1].attr["_output_shapes"].list.shape.add().CopyFrom(tf.TensorShape(shape).as_proto())
    with tf.Graph().as_default():
        (n,) = tf.import_graph_def(graph_def, return_elements=["n:0"])
        assert n.shape.sizes == tf.TensorShape(found).sizes and "_output_shapes" not in n.op.attrs
        with pytest.raises(ValueError, match="inconsistent|outputs but"):
            tf.import_graph_def(graph_def, {"p:0": tf.zeros([9, 9, 9])}) if shapes else tf.import_graph_def(
                _claiming_nothing(graph_def)
            )


def _claiming_nothing(graph_def):
    graph_def.node[1].attr["_output_shapes"].list.SetInParent()
    return graph_def


def test_what_is_waited_for_may_be_mapped():
    waiting = 'node { name: "a" op: "NoOp" } node { name: "b" op: "NoOp" input: "^a" }'
    with tf.Graph().as_default():
        instead = tf.constant(1.0, name="instead")
        (b,) = tf.import_graph_def(parsed(waiting), {"^a": instead}, ["b"])
        assert b.control_inputs == [instead.op]


def test_inputs_from_another_graph_are_refused():
    with tf.Graph().as_default() as source:
        tf.negative(tf.constant(1.0, name="a"), name="b")
    with tf.Graph().as_default():
        elsewhere = tf.constant(2.0)
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="another graph"):
            tf.import_graph_def(source.as_graph_def(), input_map={"a:0": elsewhere})
        assert not graph.get_operations()


def test_a_file_older_than_any():
    graph_def = tf.GraphDef()
    graph_def.versions.producer = -1
    with tf.Graph().as_default(), pytest.raises(ValueError, match="producer version -1"):
        tf.import_graph_def(graph_def)


@pytest.mark.parametrize("text, key", [("gone:0", "gone:0"), ("gone", "gone:0"), ("gone:0", "gone")])
def test_what_the_input_map_gives_needs_no_node(text, key):
    with tf.Graph().as_default():
        given = tf.constant(3.0)
        (n,) = tf.import_graph_def(
            parsed(NEG.replace('input: "p"', f'input: "{text}"')), input_map={key: given}, return_elements=["n:0"]
        )
        assert n.op.inputs[0] is given
        with tf.Session() as sess:
            assert sess.run(n) == -3.0


def test_an_input_that_is_nowhere_is_refused_and_another_output_is_another_input():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Unknown input node"):
        tf.import_graph_def(
            parsed(NEG.replace('input: "p"', 'input: "gone:1"')), input_map={"gone:0": tf.constant(1.0)}
        )
