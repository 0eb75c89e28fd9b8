"""variable_creator_scope, make_template, variable_op_scope: what is called, shared and named."""

import tensorflow as tf


def run(out):
    calls = []

    def creator(nc, **kw):
        calls.append([kw.get("name"), sorted(kw), str(kw.get("dtype")), kw.get("trainable")])
        return nc(**kw)

    with tf.variable_creator_scope(creator):
        a = tf.Variable(1.0, name="a")
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer(), trainable=False)
        c = tf.get_local_variable("c", [1])
    out("calls", calls)
    t = tf.make_template(
        "t", lambda x, s: x * tf.get_variable("w", initializer=s) + tf.get_variable("b", [1], initializer=tf.zeros_initializer()), s=2.0
    )
    y = t(tf.constant(1.0))
    y2 = t(tf.constant(2.0))
    out("t", [y.name, y2.name, t.name, t.variable_scope_name, [v.name for v in t.variables], [v.name for v in t.trainable_variables]])
    u = tf.make_template("u", lambda: tf.get_variable("w", [1]), create_scope_now_=True)
    v = tf.make_template("u", lambda: tf.get_variable("w", [1]), create_scope_now_=True)
    out("u", [v().name, u().name, u().name])
    z = tf.make_template("z", lambda: tf.get_variable("w", [1]), unique_name_="zz")
    out("z", z().name)
    bad = tf.make_template("bad", lambda: tf.Variable(1.0))
    bad()
    out.raises("bad", bad)

    def getter(getter, name, *a, **k):
        return getter(name + "_x", *a, **k)

    cg = tf.make_template("cg", lambda: tf.get_variable("w", [1]), custom_getter_=getter)
    out("cg", cg().name)
    with tf.variable_scope("o"):
        n = tf.make_template("n", lambda: tf.get_variable("w", [1]))
        out("n", n().name)
    out("n2", n().name)
    with tf.variable_op_scope([y], "vos") as s:
        out("vos", [s.name, tf.get_variable("q", [1]).name])
    with tf.variable_scope(None, "dn", [y]):
        out("dn", tf.get_variable("q", [1]).name)
    with tf.variable_scope(None, "dn"):
        out("dn2", tf.get_variable("q", [1]).name)
    with tf.variable_scope("dnn") as dn:
        with tf.variable_scope(None, "k"):
            out("dn3", tf.get_variable("q", [1]).name)
    with tf.variable_scope(dn):
        with tf.variable_scope(None, "k"):
            out.raises("dn4", lambda: tf.get_variable("q", [1]).name)
    out(
        "coll",
        [[k, [getattr(v, "name", None) for v in tf.get_collection(k)]] for k in ("variables", "trainable_variables", "local_variables")],
    )
    out.graph()
