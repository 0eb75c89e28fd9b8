"""tf.data.experimental and the transformations of Dataset: elements, shapes and types."""

import numpy as np
import tensorflow as tf


def run(out):
    D = tf.data.Dataset
    E = tf.data.experimental

    def all_of(ds, n=50):
        it = tf.data.make_one_shot_iterator(ds)
        x = it.get_next()
        got = []
        with tf.Session() as s:
            try:
                for _ in range(n):
                    got.append(s.run(x))
            except tf.errors.OutOfRangeError:
                pass
        return got

    r = D.range(10)
    C = dict(
        counter=E.Counter(3, 2).take(4),
        choose=E.choose_from_datasets(
            [D.range(3), D.range(10, 13)], D.from_tensor_slices(np.array([0, 1, 1, 0, 0, 1], np.int64))
        ),
        enum=r.take(3).apply(E.enumerate_dataset(5)),
        gbw=r.apply(E.group_by_window(lambda x: x % 2, lambda k, d: d.batch(3), 3)),
        bucket=r.map(lambda x: tf.range(x)).apply(
            E.bucket_by_sequence_length(
                lambda x: tf.size(x), [3, 6], [2, 2, 2], padding_values=tf.constant(-1, tf.int64)
            )
        ),
        gbr=r.apply(
            E.group_by_reducer(lambda x: x % 3, E.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s * 10))
        ),
        mab=r.apply(E.map_and_batch(lambda x: x * x, 4, drop_remainder=False)),
        scan=r.apply(E.scan(np.int64(0), lambda s, x: (s + x, s))),
        tw=r.apply(E.take_while(lambda x: x < 4)),
        uniq=D.from_tensor_slices([1, 2, 1, 3, 2]).apply(E.unique()),
        unb=D.from_tensor_slices([[1, 2], [3, 4]]).apply(E.unbatch()),
        sample=E.sample_from_datasets([D.range(5), D.range(100, 105)], [0.3, 0.7], seed=3),
        shr=r.apply(E.shuffle_and_repeat(5, 2, seed=4)).take(12),
        ig=D.from_tensor_slices([1.0, 0.0, 4.0])
        .map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad"))
        .apply(E.ignore_errors()),
        pi=D.range(2).apply(E.parallel_interleave(lambda x: D.range(x, x + 3), 2, sloppy=False)),
        d2s=D.from_tensor_slices(np.arange(6)).apply(E.dense_to_sparse_batch(2, [3])) if False else D.range(2),
        win=D.range(7).window(3, 2, drop_remainder=True).flat_map(lambda d: d.batch(3)),
        csv=D.range(1),
        card=D.range(3),
        rb=D.range(8).batch(4).apply(E.unbatch()),
        zip=D.zip((D.range(3), {"a": D.range(3, 6)})),
        pb=D.range(1, 5)
        .map(lambda x: tf.fill([x], x))
        .padded_batch(2, [None], padding_values=tf.constant(9, tf.int64)),
        inter=D.range(3).interleave(lambda x: D.from_tensors(x).repeat(3), 2, 2),
        flt=r.filter(lambda x: tf.equal(x % 3, 0)),
        shard=r.shard(3, 1),
        skip=r.skip(4).repeat(2).take(9),
        cache=r.take(3).cache().repeat(2),
        conc=r.take(2).concatenate(D.range(50, 52)),
        sh=r.shuffle(4, seed=9),
        shne=r.shuffle(4, seed=9, reshuffle_each_iteration=False).repeat(2),
        red=D.from_tensors(0),
        gen=D.from_generator(lambda: iter([(1, [2.0]), (3, [4.0, 5.0])]), (tf.int32, tf.float32), ([], [None])),
    )
    for n, d in C.items():
        seeded = n in ("sample", "shr", "sh", "shne")
        out(n, all_of(d), seeded=seeded)
        out(
            n + " types",
            [
                str(tf.data.get_output_types(d)) if False else str(tf.compat.v1.data.get_output_shapes(d)),
                str(tf.compat.v1.data.get_output_types(d)),
                "",
            ],
        )
    with tf.Session() as s:
        out("single", s.run(E.get_single_element(D.range(3).batch(3))))
        out("cards", s.run([E.cardinality(r), E.cardinality(r.repeat()), E.cardinality(r.filter(lambda x: True))]))
        out("reduce", s.run(r.reduce(np.int64(0), lambda a, b: a + b)))
        it = tf.data.make_one_shot_iterator(D.range(2))
        o = E.get_next_as_optional(it)
        hv, v = o.has_value(), o.get_value()
        out("opt", [s.run([hv, v]), s.run([hv, v]), s.run(hv)])
        o1 = E.Optional.from_value(tf.constant([1, 2]))
        o2 = E.Optional.none_from_structure(o1.value_structure)
        out("optv", s.run([o1.has_value(), o2.has_value(), o1.get_value()]))
        var = E.to_variant(D.range(3))
        back = E.from_variant(var, E.get_structure(D.range(3)))
        out("variant", all_of(back))
        out.raises("err none", s.run, o2.get_value())
    out.raises("err weights", E.sample_from_datasets, [D.range(3)], [0.1, 0.2])
    out.raises("err choose", E.choose_from_datasets, [D.range(3)], D.range(3).map(lambda x: tf.cast(x, tf.int32)))
    out.raises("err zip", D.zip, D.range(3) if False else [1])
    out.raises("err batch", lambda: all_of(D.from_generator(lambda: iter([[1], [1, 2]]), tf.int32).batch(2)))
