"""LMDB stores: keys and values in order, by datasets and by readers; what can't be read stays an error."""

import pytest

import everflow as tf

lmdb = pytest.importorskip("lmdb")
pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.fixture
def store(tmp_path):
    path = str(tmp_path / "store")
    with lmdb.open(path, map_size=1 << 22) as made, made.begin(write=True) as transaction:
        for i in range(20):
            transaction.put(b"key%02d" % i, b"v%d" % i * (2000 if i == 5 else 1))
    return path


def elements(*paths, count=100):
    following = tf.compat.v1.data.make_one_shot_iterator(tf.contrib.data.LMDBDataset(list(paths))).get_next()
    found = []
    with tf.Session() as sess:
        for _ in range(count):
            try:
                found.append(sess.run(following))
            except tf.errors.OutOfRangeError:
                break
            except tf.errors.InvalidArgumentError:
                found.append(None)
    return found


@pytest.mark.parametrize("name", ["", "/data.mdb"])
def test_keys_and_values_of_several_stores(store, name):
    once = [(b"key%02d" % i, b"v%d" % i * (2000 if i == 5 else 1)) for i in range(20)]
    assert elements(store + name, store + name) == once + once


def test_what_is_no_store_is_not_passed_over(store, tmp_path):
    (tmp_path / "file").write_bytes(b"nonsense")
    for wrong in (tmp_path / "file", tmp_path / "nothing"):
        found = elements(store, str(wrong), store, count=23)
        assert found[19][0] == b"key19" and found[20:] == [None] * 3


def test_readers(store):
    queue = tf.FIFOQueue(5, tf.string)
    reader = tf.LMDBReader()
    one, some = reader.read(queue), reader.read_up_to(queue, 30)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    assert one[0].op.type == "ReaderRead" and one[0].op.inputs[1].op.type == "FakeQueue"
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([[store, store]]))
        assert sess.run(one) == (b"key00", b"v0") and sess.run(one) == (b"key01", b"v1")
        keys, values = sess.run(some)
        assert len(keys) == 18 and values[-1] == b"v19" and sess.run(counts) == [20, 1]
        assert sess.run(one) == (b"key00", b"v0")
