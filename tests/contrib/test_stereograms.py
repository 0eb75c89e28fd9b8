"""Random-dot stereograms: dots repeat at the distance that the depth asks for, and are those of a fresh process under
TensorFlow.
"""

import subprocess
import sys

import numpy as np

import everflow as tf

SIZES = {"output_image_shape": [60, 40, 1], "output_data_window": [50, 30], "dots_per_inch": 16}


def _stereogram(depths, **options):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(tf.contrib.image.single_image_random_dot_stereograms(depths, **{**SIZES, **options}))


def test_pixels_that_show_one_point_are_equal():
    far, near = (
        _stereogram(np.zeros((6, 8)), normalize=False)[5, :, 0],
        _stereogram(np.ones((6, 8), np.int32), normalize=False)[5, :, 0],
    )
    assert (far[20:] == far[:-20]).all() and (far[16:] != far[:-16]).any()  # (1 - mu z) E / (2 - mu z) with E = 40
    assert (near[16:] == near[:-16]).all()


def test_dots_to_converge_on():
    image = _stereogram(np.random.default_rng(3).uniform(size=(10, 15)), number_colors=300)
    assert image.shape == (40, 60, 3)
    assert not image[32:40, 16:24].any() and not image[32:40, 36:44].any()


def test_two_colours():
    assert set(_stereogram(np.zeros((2, 2)), number_colors=2).ravel().tolist()) == {0, 255}


def test_default_size_and_first_dots_of_a_process():
    program = """
import numpy as np, everflow as tf
image = tf.contrib.image.single_image_random_dot_stereograms(np.eye(3), output_data_window=[50, 30], output_image_shape=[60, 40])
assert image.shape == (40, 60, 1), image.shape
assert tf.contrib.image.single_image_random_dot_stereograms(np.eye(3)).shape == (768, 1024, 1)
print(tf.Session().run(image)[0, ::-1, 0][:6].tolist())
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found.split("\n")[-2] == "[103, 198, 105, 115, 81, 255]"
