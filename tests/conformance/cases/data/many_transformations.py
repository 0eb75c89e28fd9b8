"""Dataset ops chained in a graph: group_by_window, bucket, scan, take_while, unique, enumerate, rejection resample, sample, unbatch, cardinality, prefetch, interleave."""

import numpy as np
import tensorflow as tf

E = tf.data.experimental


def run(out):
    D = tf.data.Dataset

    def drain(dataset, limit=40):
        it = tf.compat.v1.data.make_initializable_iterator(dataset)
        n = it.get_next()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(it.initializer)
            got = []
            for _ in range(limit):
                try:
                    got.append(sess.run(n))
                except tf.errors.OutOfRangeError:
                    return got
                except Exception as e:  # noqa: BLE001
                    return got + [type(e).__name__]
            return got

    r = D.range(10)
    sets = {
        "window": r.apply(E.group_by_window(lambda x: x % 3, lambda k, d: d.batch(2), 2)),
        "reducer": r.apply(
            E.group_by_reducer(
                lambda x: x % 2,
                E.Reducer(
                    lambda _: (0.0, 0),
                    lambda s, x: (s[0] + tf.cast(x, tf.float32), s[1] + 1),
                    lambda a, b: a / tf.cast(b, tf.float32),
                ),
            )
        ),
        "bucket": D.from_generator(lambda: ([1] * n for n in (1, 4, 2, 6, 3)), tf.int32, [None]).apply(
            E.bucket_by_sequence_length(tf.size, [3, 5], [2, 2, 2])
        ),
        "scan": r.apply(E.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s * 2))),
        "while": r.apply(E.take_while(lambda x: x < 4)),
        "unique": D.from_tensor_slices([1, 1, 2, 5, 2]).apply(E.unique()),
        "enum": D.from_tensor_slices(["a", "b"]).apply(E.enumerate_dataset(start=5)),
        "enum2": r.enumerate(3).take(2),
        "unbatch": D.from_tensor_slices(np.arange(6).reshape(2, 3)).apply(E.unbatch()),
        "ignore": D.from_tensor_slices([1.0, 0.0, 2.0])
        .map(lambda x: tf.check_numerics(1.0 / x, "no"))
        .apply(E.ignore_errors()),
        "inter": r.interleave(lambda x: D.from_tensors(x).repeat(2), cycle_length=3, block_length=1),
        "pinter": r.interleave(lambda x: D.range(x), cycle_length=2, num_parallel_calls=2),
        "flat": D.range(4).flat_map(lambda x: D.range(x)),
        "zip": D.zip({"a": r, "b": (r.skip(2), r.shuffle(10, seed=3))}).take(3),
        "choose": E.choose_from_datasets(
            [r, r.map(lambda x: -x)], D.from_tensor_slices(np.array([0, 1, 1, 0], np.int64))
        ),
        "sample": E.sample_from_datasets([r, r.map(lambda x: x + 100)], [0.3, 0.7], seed=5).take(8),
        "shuffle": r.shuffle(4, seed=1).repeat(2),
        "sr": r.apply(E.shuffle_and_repeat(5, 2, seed=9)),
        "padded": D.from_generator(lambda: [[1], [2, 3], [4, 5, 6]], tf.int64, [None]).padded_batch(
            2, [4], padding_values=np.int64(-1)
        ),
        "batchd": r.batch(4, drop_remainder=True),
        "mapb": r.apply(E.map_and_batch(lambda x: x * 2, 3, num_parallel_calls=2, drop_remainder=False)),
        "window2": r.window(3, shift=2, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(3)),
        "filter": r.filter(lambda x: tf.equal(x % 3, 0)),
        "concat": r.take(1).concatenate(r.skip(9)),
        "counter": E.Counter(5, -2).take(3),
        "resample": r.apply(
            E.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5], seed=2)
        ).take(4),
        "shard": r.shard(3, 1),
        "reduce": D.from_tensors(r.reduce(np.int64(0), lambda s, x: s + x)),
        "cache": r.take(2).cache().repeat(2),
        "random": E.RandomDataset(7).take(2),
        "opt": r.take(2).prefetch(1).with_options(tf.data.Options()),
        "ragged": D.from_tensor_slices(tf.ragged.constant([[[1]], [[2, 3], [4]]])).map(lambda x: x.flat_values),
        "sparse": D.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2]))
        .batch(2)
        .map(tf.sparse.to_dense),
        "parse": D.from_tensors(
            tf.constant(
                [
                    tf.train.Example(
                        features=tf.train.Features(
                            feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[4]))}
                        )
                    ).SerializeToString()
                ]
            )
        ).apply(E.parse_example_dataset({"a": tf.FixedLenFeature([1], tf.int64)})),
    }
    out("cards", [[n, int(tf.Session().run(E.cardinality(d)))] for n, d in sorted(sets.items())])
    out(
        "types",
        [
            [n, str(tf.compat.v1.data.get_output_types(d)), str(tf.compat.v1.data.get_output_shapes(d))]
            for n, d in sorted(sets.items())
        ],
    )
    for n in sorted(sets):
        out(n, drain(sets[n]))
    out.raises("batch text", r.batch, "a")
    out.raises("zip list", D.zip, [r])
    out.raises("concat types", r.concatenate, D.from_tensors("a"))
    out.raises("filter type", r.filter, lambda x: x)
    out.raises("flat type", r.flat_map, lambda x: x)
    out.raises("weights", E.sample_from_datasets, [r, r], [0.3])
    out.raises("shards", lambda: drain(r.shard(2, 2)))
    out.raises("key type", r.apply, E.group_by_window(lambda x: tf.cast(x, tf.int32), lambda k, d: d, 2))
    out.graph()
