"""tf.keras.preprocessing and tf.keras.utils: texts, sequences, images, workers, files."""

import io
import pathlib
import pickle

import numpy as np
import pytest

import everflow as tf

P, U = tf.keras.preprocessing, tf.keras.utils


def test_tokenizer_there_and_back():
    tokenizer = P.text.Tokenizer(oov_token="?")
    tokenizer.fit_on_texts(["the cat", "the dog"])
    again = tf.keras.preprocessing.text.tokenizer_from_json(tokenizer.to_json())
    assert again.texts_to_sequences(["the bird", "DOG!"]) == [[2, 1], [4]]
    assert again.sequences_to_texts([[2, 3]]) == ["the cat"]
    matrix = again.texts_to_matrix(["the the cat"], mode="count")
    assert matrix[0].tolist() == [0, 0, 2, 1, 0]


def test_padding():
    assert P.sequence.pad_sequences([[1], [1, 2, 3]], maxlen=2, truncating="post").tolist() == [[0, 1], [1, 2]]
    assert P.sequence.pad_sequences([["a"], ["b", "c"]], dtype=object, value="-").tolist() == [["-", "a"], ["b", "c"]]


def test_images_there_and_back(tmp_path):
    x = np.random.RandomState(0).randint(0, 255, (5, 4, 3)).astype("f")
    P.image.save_img(str(tmp_path / "x.png"), x, scale=False)
    image = P.image.load_img(str(tmp_path / "x.png"))
    np.testing.assert_array_equal(P.image.img_to_array(image), x)
    assert P.image.load_img(str(tmp_path / "x.png"), color_mode="grayscale", target_size=(2, 6)).size == (6, 2)


def test_flow_repeats_with_a_seed():
    x = np.random.RandomState(0).rand(6, 8, 8, 3)
    generator = P.image.ImageDataGenerator(
        rotation_range=20, horizontal_flip=True, width_shift_range=0.2, zoom_range=0.1, rescale=2.0
    )
    flows = [generator.flow(x, np.arange(6), batch_size=4, seed=7) for _ in range(2)]
    for _ in range(3):
        (a, labels), (b, others) = next(flows[0]), next(flows[1])
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(labels, others)
    assert len(flows[0]) == 2


def test_affine_moves_by_whole_pixels():
    x = np.arange(16.0).reshape(4, 4, 1)
    moved = P.image.apply_affine_transform(x, tx=1)
    np.testing.assert_allclose(moved[:3], x[1:])
    turned = P.image.apply_affine_transform(np.ones((4, 4, 1)), theta=90)
    np.testing.assert_allclose(turned, 1)


def test_folders_of_images(tmp_path):
    for label, colour in (("dark", 0), ("light", 200)):
        (tmp_path / label).mkdir()
        for i in range(4):
            P.image.save_img(str(tmp_path / label / f"{i}.png"), np.full((6, 6, 3), colour), scale=False)
    generator = P.image.ImageDataGenerator(rescale=1 / 200, validation_split=0.25)
    batches = generator.flow_from_directory(
        str(tmp_path), target_size=(4, 4), batch_size=6, shuffle=False, subset="training"
    )
    images, labels = next(batches)
    assert (images.shape, labels.shape, batches.class_indices) == ((6, 4, 4, 3), (6, 2), {"dark": 0, "light": 1})
    np.testing.assert_allclose(images[:, 0, 0, 0], labels[:, 1])
    table = {"filename": np.array(["dark/0.png", "light/1.png", "nowhere.png"]), "class": np.array(["a", "b", "a"])}
    with pytest.warns(UserWarning, match="1 invalid image"):
        batches = generator.flow_from_dataframe(
            table, str(tmp_path), class_mode="binary", shuffle=False, target_size=(6, 6)
        )
    images, labels = next(batches)
    assert labels.tolist() == [0, 1]


def test_normalisation_is_learned():
    x = np.random.RandomState(0).rand(20, 3, 3, 3) * 5
    generator = P.image.ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True)
    generator.fit(x)
    batch = next(generator.flow(x, batch_size=20, shuffle=False))
    np.testing.assert_allclose(batch.mean(axis=(0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(batch.std(axis=(0, 1, 2)), 1, rtol=1e-4)


class Numbers(U.Sequence):
    def __init__(self, fails_at=None):
        self.fails_at = fails_at

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == self.fails_at:
            raise KeyError(index)
        return index


@pytest.mark.parametrize("processes", [False, True])
def test_ordered_workers(processes):
    enqueuer = U.OrderedEnqueuer(Numbers(), use_multiprocessing=processes)
    enqueuer.start(workers=2, max_queue_size=3)
    batches = enqueuer.get()
    assert [next(batches) for _ in range(6)] == [0, 1, 2, 3, 0, 1]
    enqueuer.stop()
    assert not enqueuer.is_running()


def test_workers_pass_failures_on():
    enqueuer = U.OrderedEnqueuer(Numbers(fails_at=1))
    enqueuer.start()
    batches = enqueuer.get()
    assert next(batches) == 0
    with pytest.raises(KeyError):
        next(batches)


def test_generator_workers_end_with_the_generator():
    enqueuer = U.GeneratorEnqueuer(iter(range(5)))
    enqueuer.start()
    assert list(enqueuer.get()) == [0, 1, 2, 3, 4]


def test_progress_bar(capsys):
    bar = U.Progbar(10, verbose=2, stateful_metrics=["rate"])
    bar.update(5, [("loss", 2.0), ("rate", 0.1)])
    bar.update(10, [("loss", 4.0), ("rate", 0.2)])
    assert capsys.readouterr().out == "10/10 - 0s - loss: 3.0000 - rate: 0.2000\n"


def test_get_file(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("hello")
    path = U.get_file(
        "copy.txt",
        origin=source.as_uri(),
        cache_dir=str(tmp_path / "cache"),
        md5_hash="5d41402abc4b2a76b9719d911017c592",
    )
    assert pathlib.Path(path).read_text() == "hello"
    source.unlink()
    assert U.get_file("copy.txt", origin=source.as_uri(), cache_dir=str(tmp_path / "cache")) == path
    with pytest.raises(Exception, match="URL fetch failure"):
        U.get_file("other.txt", origin=source.as_uri(), cache_dir=str(tmp_path / "cache"))


def test_files_of_datasets_execute_nothing(tmp_path):
    from everflow.keras.datasets.arrays_in_files import load_npz, unpickle

    words = np.empty(2, dtype=object)
    words[:] = [[1, 2], [3]]
    np.savez(tmp_path / "words.npz", x=words, y=np.arange(2))
    data = load_npz(tmp_path / "words.npz")
    assert (list(data["x"]), data["y"].tolist()) == ([[1, 2], [3]], [0, 1])

    class Evil:
        def __reduce__(self):
            return print, ("executed",)

    with pytest.raises(ValueError, match="builtins.print"):
        unpickle(io.BytesIO(pickle.dumps(Evil())))


def test_imdb_arranges_words(tmp_path, monkeypatch):
    from everflow.keras.datasets import imdb

    words = np.empty(3, dtype=object)
    words[:] = [[1, 2, 9], [3], [4, 5]]
    np.savez(tmp_path / "imdb.npz", x_train=words, y_train=np.arange(3), x_test=words, y_test=np.arange(3))
    monkeypatch.setattr(imdb, "fetched", lambda *args, **kwargs: str(tmp_path / "imdb.npz"))
    (x, y), (x_test, _) = imdb.load_data(num_words=8)
    assert [x[list(y).index(i)] for i in range(3)] == [[1, 4, 5, 2], [1, 6], [1, 7, 2]]
    assert len(x_test) == 3
