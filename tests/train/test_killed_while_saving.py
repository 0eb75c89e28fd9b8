"""A process killed at any moment of saving leaves a checkpoint that can be restored, whole."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

# One process builds the graph; for each round it forks a child that saves without end, kills it and reads what is
# there.
PROGRAM = """
import os, random, signal, sys, time
import numpy as np
import everflow as tf

folder, mode, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
tf.logging.set_verbosity(tf.logging.ERROR)
with tf.device("/cpu:0"):
    a = tf.get_variable("a", [2000], initializer=tf.zeros_initializer())
b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
value = tf.placeholder(tf.float32, [])
change = tf.group(a.assign(tf.fill([2000], value)), b.assign(tf.fill([3], value)))
saver = tf.train.Saver(max_to_keep=2, sharded=mode == "sharded", write_version=tf.train.SaverDef.V1 if mode == "old" else tf.train.SaverDef.V2)
sess = tf.Session()


def save(number):
    sess.run(change, {value: number})
    saver.save(sess, folder + "/model", global_step=number if mode == "steps" else None, write_meta_graph=number % 3 == 0)


save(1)
start = time.perf_counter()
save(1)
pace = time.perf_counter() - start
rng = random.Random(5)
number, newest = 2, 1
for i in range(rounds):
    done, note = os.pipe()
    child = os.fork()
    if not child:
        while True:
            save(number)
            os.write(note, b".")
            number += 1
    # Some moment within one of the first three saves, however slow this machine is.
    for _ in range(rng.randrange(3)):
        os.read(done, 1)
    time.sleep(rng.uniform(0, 1.2) * pace)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(done), os.close(note)
    path = tf.train.latest_checkpoint(folder)
    assert path is not None, (i, os.listdir(folder))
    reader = tf.train.load_checkpoint(path)
    found = reader.get_tensor("a")[0]
    assert (reader.get_tensor("a") == found).all() and (reader.get_tensor("b") == found).all(), (i, found, reader.get_tensor("b"))
    assert found >= newest, (i, found, newest)
    newest = found
    number = int(newest) + 1
saver.restore(sess, path)
assert sess.run(a)[0] == newest
save(number)
saver.restore(sess, tf.train.latest_checkpoint(folder))
assert sess.run(b)[0] == number
print("SAVED", int(newest))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("mode", "rounds"), [("same", 60), ("steps", 50), ("sharded", 25), ("old", 15)])
def test_a_checkpoint_is_always_there(mode, rounds):
    # In memory where that can be: a disk that takes its time would leave no moment but its own.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        command = [sys.executable, "-c", PROGRAM, folder, mode, str(rounds)]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=900
        )
    assert done.returncode == 0, done.stderr[-3000:]
    # Children got to save, so that the moments were within it.
    assert int(done.stdout.split("SAVED ")[1]) > rounds / 3


def test_a_half_renamed_bundle_is_read_and_completed(tmp_path):
    import numpy as np

    from everflow.formats import bundle

    def write(prefix, value):
        writer = bundle.BundleWriter(prefix)
        writer.add("v", np.full([5], value, np.float32))
        writer.finish()

    prefix, new = str(tmp_path / "model"), str(tmp_path / "new")
    write(prefix, 1)
    write(new, 2)
    # As if the process had ended between the renaming of the index and that of the data.
    aside = prefix + ".tempstate0"
    os.replace(bundle.data_name(new, 0, 1), bundle.data_name(aside, 0, 1))
    os.replace(bundle.index_name(new), bundle.index_name(prefix))
    assert bundle.BundleReader(prefix).read("v")[0] == 2
    write(prefix, 3)
    assert bundle.BundleReader(prefix).read("v")[0] == 3
    assert sorted(os.listdir(tmp_path)) == ["model.data-00000-of-00001", "model.index"]
