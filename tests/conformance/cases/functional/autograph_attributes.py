"""tf.autograph.to_graph and tf.function: attributes and elements assigned in branches and loops over tensors; values, names and errors."""
import tensorflow as tf


class Box(object):
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def branch(n):
    o = Box(a=1)
    if n > 2:
        o.a = n * 2
    return o.a


def loop(n):
    o = Box(turn=0, power=1)
    while o.turn < n:
        o.turn += 1
        o.power = o.power * 2
    return o.power


def jumps(n):
    o = Box(p=Box(s=0))
    for k in tf.range(n):
        if k > 6:
            break
        if k % 2 > 0:
            continue
        o.p.s += k
    return o.p.s


def swapped(n):
    o = Box(a=0, b=1)
    for _ in tf.range(n):
        o.a, o.b = o.b, o.a + o.b
    return o.a, o.b


def elements(n):
    d = {"x": 1, 0: 2}
    for key in ["x", 0]:
        if n > 2:
            d[key] = d[key] + n
        else:
            d[key] = 0
    return d["x"] + 100 * d[0]


def stacked(n):
    o = Box(ta=tf.TensorArray(tf.int32, size=0, dynamic_size=True), s=(1, {"a": 2}))
    for k in tf.range(n):
        o.ta = o.ta.write(k, k * 2)
        o.s = (o.s[0] + 1, {"a": o.s[1]["a"] * 2})
    return o.ta.stack(), o.s


def missing_attribute(n):
    o = Box()
    if n > 2:
        o.a = n
    return o.a


def missing_key(n):
    d = {}
    if n > 2:
        d["a"] = n
    else:
        d["a"] = 0
    return d["a"]


def another_type(n):
    o = Box(a=1.0)
    while n > 2:
        o.a = n
        n -= 1
    return o.a


def run(out):
    n = tf.placeholder(tf.int32, [], name="n")
    made = [(f.__name__, tf.autograph.to_graph(f)(n), tf.function(f)(n)) for f in (branch, loop, jumps, swapped, elements, stacked)]
    out("name", made[0][1].name)  # of several attributes TensorFlow keeps no order
    with tf.Session() as sess:
        for name, drawn, traced in made:
            out(name, [sess.run([drawn, traced], {n: v}) for v in (1, 4, 10)])
    for f in (missing_attribute, missing_key, another_type):
        out.raises(f.__name__, tf.autograph.to_graph(f), n)
