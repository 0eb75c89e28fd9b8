"""Random numbers hoisted out of a map, blocks that end early in a parallel interleave, and CSV lines of every ending."""
import os
import tempfile

import numpy as np
import tensorflow as tf


def drain(dataset):
    following = tf.data.make_initializable_iterator(dataset)
    element, got = following.get_next(), []
    with tf.Session() as sess:
        sess.run(following.initializer)
        while True:
            try:
                got.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                return got


def run(out):
    D, E = tf.data.Dataset, tf.data.experimental
    options = tf.data.Options()
    options.experimental_optimization.hoist_random_uniform = True
    noisy = D.range(4).map(lambda x: tf.cast(x, tf.float32) + tf.random_uniform([2], seed=3))
    out("hoisted", drain(noisy.repeat(2).with_options(options)), seeded=True)
    out("left where they are", drain(noisy.repeat(2)), seeded=True)

    def of(sizes, cycle, length, **more):
        sizes = D.from_tensor_slices((np.arange(len(sizes)), np.array(sizes, np.int64)))
        made = sizes.apply(E.parallel_interleave(lambda i, n: D.from_tensors(i).repeat(n), cycle, length, **more))
        return [int(i) for i in drain(made)]

    out("all begun at once", of([1, 5, 3], 3, 2))
    out("others wait", of([5, 0, 4, 2, 4, 1], 4, 3))
    out("none prefetched", of([5, 5, 5, 1, 2, 3, 2], 5, 3, prefetch_input_elements=0))

    folder = tempfile.mkdtemp()
    for i, text in enumerate([b"1,2\r3,4\r", b"1,2\r\n3,4\n5,6\r7,8", b'"a\rb",1\r"c\r\nd",2\r\n']):
        path = os.path.join(folder, "%d.csv" % i)
        with open(path, "wb") as file:
            file.write(text)
        out("lines %d" % i, drain(E.CsvDataset([path], [tf.string, tf.int32])))
