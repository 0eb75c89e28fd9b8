"""What `Session.explain` and `everflow inspect --plan` tell of a run: the plan that runs, and why it is what it is."""

import re

import numpy as np

import everflow as tf
from everflow.cli import main
from everflow.framework import raw_ops as raw
from everflow.ops.functions.defun import Defun
from everflow.runtime.plan import explain, specialize
from tests.runtime.plan.sessions import config


def model():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = raw.Exp(x=raw.Mul(x=x, y=tf.constant(1.0, name="one"), name="scaled"), name="exp")
    rows = tf.cast(tf.shape(y, name="shape")[0], tf.float32, name="rows")
    return x, raw.Mul(x=y, y=rows, name="y")


def test_it_shows_the_plan_that_runs():
    x, y = model()
    with tf.Session() as sess:
        text = sess.explain(y, [x])
        plan = sess._executor.prepare([y], [x]).plan
        source = getattr(plan, "general", plan).emitted.source
    shown = [line.split("  # ")[0].rstrip() for line in text.split("emit:\n")[1].splitlines()]
    assert shown == [f"  {line}" for line in source.splitlines()]
    assert "# exp (Exp)" in text and "# y (Mul)" in text
    total = len(tf.get_default_graph().get_operations())
    assert re.search(rf"^prune: \d+ of {total} nodes left, 1 fed$", text, re.M)
    assert "device:CPU:0" in text and "schedule: 0 writes moved after uses, 0 reads copied" in text


def test_it_tells_what_each_rule_changed():
    x, y = model()
    with tf.Session() as sess:
        text = sess.explain(y, [x])
    assert re.search(r"^rewrite: .*neutral arithmetic 1", text, re.M)
    assert "  neutral arithmetic: scaled = Mul(x, one) → x = _Feed()" in text.splitlines()
    with tf.Session(config=config(disable_meta_optimizer=True)) as sess:
        assert "rewrite: nothing to do" in sess.explain(y, [x])


def test_a_long_story_is_cut(monkeypatch):
    monkeypatch.setattr(explain, "MOST_CHANGES", 3)
    y = tf.constant(1.0)
    for _ in range(10):
        y = raw.Exp(x=y)
    with tf.Session() as sess:
        text = sess.explain(y)
    assert text.count(" → ") == 3 and "  and 7 more" in text.splitlines()


def test_plans_for_shapes_that_came_often(monkeypatch):
    monkeypatch.setattr(specialize, "WORTH", 0.0)
    x, y = model()
    with tf.Session() as sess:
        assert "for x" not in sess.explain(y, [x])
        for rows in (2, 2, 5, 5):
            sess.run(y, {x: np.ones((rows, 3))})
        text = sess.explain(y, [x])
    assert re.findall(r"^for (.*):$", text, re.M) == ["x [2, 3]", "x [5, 3]"]
    general, *special = re.split(r"^for .*:$", text, flags=re.M)
    assert "(Shape)" in general
    for part in special:
        assert "(Shape)" not in part and "shape propagation" in part and "(Exp)" in part


def test_copies_and_writes_that_wait():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    read = v.read_value()
    with tf.control_dependencies([read]):
        written = v.assign([3.0, 4.0], read_value=False)
    with tf.control_dependencies([written]):
        late = tf.negative(read)
    moved = tf.Variable(1.0, use_resource=False)
    write = tf.assign_add(moved, 1.0)
    use = moved * 3.0
    with tf.Session() as sess:
        assert "1 reads copied" in sess.explain(late)
        assert "schedule: 1 writes moved after uses" in sess.explain([write, use])


def told(sess, what, fetches, feeds):
    (text,) = re.findall(rf"^{what}: (.*)$", sess.explain(fetches, feeds), re.M)
    return text


def test_threads():
    x = tf.placeholder(tf.float32, [128, 128])
    plain, product = tf.abs(x) * 2.0, tf.matmul(x, x)
    function = Defun(tf.float32, func_name="Squared")(lambda value: tf.matmul(value, value))(x)
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2)) as sess:
        assert told(sess, "threads", plain, [x]) == "1 or 2, being tried"
        assert told(sess, "threads", product, [x]) == "1"  # its bits depend on the number, so its size decides
        assert told(sess, "threads", function, [x]) == "1"  # which may do anything
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as sess:
        assert told(sess, "threads", plain, [x]) == "1"


def test_memory():
    x, small, wide = (
        tf.placeholder(tf.float32, [1000, 1000]),
        tf.placeholder(tf.float32, [10]),
        tf.placeholder(tf.float32, [None]),
    )
    chain = x
    for _ in range(5):
        chain = tf.matmul(chain, chain)
    with tf.Session() as sess:
        assert told(sess, "memory", [tf.sin(x), tf.cos(x), tf.tanh(x)], [x]) == "12.0 MB of values at once"
        assert told(sess, "memory", chain, [x]) == "8.0 MB of values at once"  # each is let go when the next is there
        assert told(sess, "memory", tf.exp(small), [small]) == "0.0 kB of values at once"
        assert re.fullmatch(
            r".* of values at once, besides \d+ of unknown shape", told(sess, "memory", tf.exp(wide) * 2.0, [wide])
        )


def test_what_runs_token_by_token():
    x = tf.placeholder(tf.float32, [2])
    merged = raw.Merge(inputs=[raw.Neg(x=x), raw.Exp(x=x)]).output
    with tf.Session() as sess:
        assert "nodes run token by token" in sess.explain(merged, [x])


def test_a_cut_plan_shows_its_pieces():
    x = tf.placeholder(tf.float32, [2])
    y = x
    for _ in range(900):
        y = raw.Sin(x=y)
    with tf.Session() as sess:
        text = sess.explain(y, [x])
    assert "def piece1(step, r):" in text and "# Sin_899 (Sin)" in text


def test_the_command_shows_the_same(tmp_path, capsys):
    x, y = model()
    path = tmp_path / "graph.pb"
    path.write_bytes(tf.get_default_graph().as_graph_def().SerializeToString())
    assert main(["inspect", "--plan", str(path), "--fetch", "y:0", "--feed", "x:0"]) == 0
    shown = capsys.readouterr().out.strip()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(tf.GraphDef.FromString(path.read_bytes()), name="")
        assert shown == sess.explain("y:0", ["x:0"]).strip()
