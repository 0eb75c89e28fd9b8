"""Variable scopes in depth: reuse modes, partitioners, custom getters in a chain, regularizers, caching devices, templates, collections, dtype, constraint, variable_op_scope, initializers given as tensors."""

import numpy as np
import tensorflow as tf


def run(out):
    tf.set_random_seed(4)
    calls = []

    def outer(getter, name, *args, **kwargs):
        calls.append(("outer", name, kwargs.get("trainable"), kwargs.get("reuse")))
        return getter(name, *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        calls.append(("inner", name))
        return getter(name, *args, **kwargs) * 2.0

    with tf.variable_scope(
        "a",
        custom_getter=outer,
        regularizer=tf.contrib.layers.l2_regularizer(0.5),
        initializer=tf.ones_initializer(),
        dtype=tf.float64,
        caching_device="/cpu:0",
    ) as a:
        v = tf.get_variable("v", [2])
        with tf.variable_scope("b", custom_getter=inner, use_resource=True):
            w = tf.get_variable("w", [2], regularizer=lambda x: None)
            k = tf.get_variable("k", initializer=lambda: tf.constant([1.0, 2.0]), dtype=tf.float32)
        with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3, axis=1)):
            p = tf.get_variable("p", [2, 7])
            q = tf.get_variable("q", [3], partitioner=tf.variable_axis_size_partitioner(8))
    with tf.variable_scope(a, reuse=True):
        v2 = tf.get_variable("v", [2])
        out.raises("missing", tf.get_variable, "new", [1])
        out.raises("shape", tf.get_variable, "v", [3])
        out.raises("dtype", tf.get_variable, "v", [2], tf.float32)
        with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3, axis=1)):
            p2 = tf.get_variable("p", [2, 7])
        out.raises(
            "partitions", lambda: tf.get_variable("p/p", [2, 7], partitioner=tf.fixed_size_partitioner(2, axis=1))
        )
    with tf.variable_scope("a", auxiliary_name_scope=False):
        c = tf.constant(1.0, name="c")
    with tf.variable_scope("a"):
        c2 = tf.constant(1.0, name="c")
        out.raises("exists", tf.get_variable, "v", [2])
    with tf.variable_scope("auto", reuse=tf.AUTO_REUSE) as auto:
        x1, x2 = tf.get_variable("x", []), tf.get_variable("x", [])
        auto.set_dtype(tf.float16)
        x3 = tf.get_variable("y", [])
        out(
            "scope",
            [
                auto.name,
                auto.original_name_scope,
                str(auto.dtype),
                auto.reuse is tf.AUTO_REUSE,
                auto.use_resource,
                auto.constraint,
                auto.caching_device,
            ],
        )
    with tf.variable_scope(None, "unique", [c]) as u1:
        pass
    with tf.variable_scope(None, "unique") as u2:
        loc = tf.get_local_variable("loc", [2], initializer=tf.zeros_initializer())
    template = tf.make_template(
        "t", lambda z: z * tf.get_variable("m", [], initializer=tf.constant_initializer(3.0)), create_scope_now_=True
    )
    t1, t2 = template(1.0), template(2.0)
    out("templates", [template.name, template.var_scope.name, [m.name for m in template.variables], t1.name, t2.name])
    out.raises("scope type", lambda: tf.variable_scope(3).__enter__())
    out.raises("no name", lambda: tf.variable_scope(None).__enter__())
    out.raises("initializer and shape", tf.get_variable, "bad", [3], initializer=tf.constant([1.0]))
    out.raises("no shape", tf.get_variable, "bad2")
    out.raises("strings", tf.get_variable, "bad3", [1], tf.string)
    s = tf.get_variable(
        "s", initializer=np.arange(3), trainable=False, collections=["mine", tf.GraphKeys.GLOBAL_VARIABLES]
    )
    ints = tf.get_variable("ints", [2], tf.int32)
    const = tf.get_variable(
        "con",
        [2],
        constraint=lambda t: tf.clip_by_value(t, 0.0, 1.0),
        synchronization=tf.VariableSynchronization.AUTO,
        aggregation=tf.VariableAggregation.SUM,
    )
    out("calls", calls)
    out(
        "same",
        [
            v is v2,
            x1 is x2,
            [i.name for i in p],
            list(p) == list(p2),
            p.get_shape().as_list(),
            p.name,
            p.dtype.name,
            p.partitions if hasattr(p, "partitions") else None,
            type(q).__name__,
            p.as_tensor().shape.as_list(),
        ],
    )
    out("names", [t.name for t in (v, w, k, c, c2, x3, loc, s, ints, const)] + [u1.name, u2.name])
    out(
        "collections",
        {
            key: sorted(getattr(t, "name", str(t)) for t in tf.get_collection(key))
            for key in sorted(tf.get_default_graph().get_all_collection_keys())
            if "__" not in str(key)
        },
    )
    out(
        "regularization",
        [tf.losses.get_regularization_losses()[i].name for i in range(len(tf.losses.get_regularization_losses()))],
    )
    out(
        "facts",
        [
            const.constraint is not None,
            const.aggregation == tf.VariableAggregation.SUM,
            s.trainable,
            v.initial_value.name,
            v._save_slice_info is None if hasattr(v, "_save_slice_info") else None,
            [i._save_slice_info.spec for i in p],
        ],
    )
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        out("values", sess.run([v, w, k, p.as_tensor(), q.as_tensor(), x1, t1, t2, s, ints, const]))
        out("assigned", sess.run([part.assign(part * 2.0) for part in p]))
        out("uninitialized", sess.run(tf.report_uninitialized_variables()))
    out.graph()
