"""Functions of TensorFlow's modules of gradients, and small parts of operators, loops, images, checkpoints and initial values, by
their inner names. Expected values are TensorFlow's.
"""

import types

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.ops import (
    image_ops_impl,
    io_ops,
    math_grad,
    nn_grad,
    tensor_array_grad,
    tensor_array_ops,
    variables,
    while_v2,
)
from tensorflow.python.ops.linalg import linear_operator_circulant, linear_operator_kronecker, linear_operator_toeplitz

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


def test_functions_named_after_the_op_type():
    x = tf.constant([[1.0, 2.0]])
    product = tf.matmul(x, tf.constant([[3.0], [4.0]]))
    left, right = math_grad._MatMulGrad(product.op, tf.ones([1, 1]))
    assert run([left, right])[0].tolist() == [[3, 4]]
    assert run(nn_grad._ReluGrad(tf.nn.relu(x - 1.5).op, tf.ones([1, 2]))).tolist() == [[0, 1]]
    with pytest.raises(AttributeError):
        math_grad._NothingGrad  # noqa: B018


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("data_format", "axes"), [(b"NHWC", (0, 1, 2)), (b"NCHW", (0, 2, 3))])
def test_batch_normalization_in_plain_arithmetic(training, data_format, axes):
    chance = np.random.RandomState(0)
    x, grad = chance.rand(2, 2, 3, 2), chance.rand(2, 2, 3, 2)
    scale, mean, variance = [1.0, 2.0], [0.1, 0.2], [1.0, 3.0]
    like = [-1 if i not in axes else 1 for i in range(4)]
    x, grad = tf.constant(x, tf.float32), tf.constant(grad, tf.float32)
    moments = tf.nn.moments(x, axes, keep_dims=True) if training else [tf.reshape(v, like) for v in (mean, variance)]
    offset = tf.constant([0.0, 0.0])
    scales = tf.constant(scale)
    y = tf.nn.batch_normalization(x, *moments, tf.reshape(offset, like), tf.reshape(scales, like), 0.01)
    expected = tf.gradients(y, [x, scales, offset], grad)
    found = nn_grad._BatchNormGrad(
        grad, x, scales, tf.constant(mean), tf.constant(variance), 0.01, data_format, training
    )
    for one, other in zip(*run([expected, list(found)]), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("name", ["foo/gradients/gradients_1", "gradients", "gradients_0"])
def test_the_call_of_gradients_that_a_tensor_is_of(name):
    assert tensor_array_grad._GetGradSource(types.SimpleNamespace(name=f"{name}/bar")) == name
    with pytest.raises(ValueError, match="gradients"):
        tensor_array_grad._GetGradSource(types.SimpleNamespace(name="bar"))


def test_a_tensor_array_with_another_flow():
    array = tf.TensorArray(tf.float32, 1).write(0, 2.0)
    assert run(tensor_array_ops.build_ta_with_new_flow(array, array.flow).read(0)) == 2
    assert isinstance(array, tensor_array_ops._GraphTensorArray)


@pytest.mark.parametrize("module", [linear_operator_circulant, linear_operator_toeplitz])
def test_numbers_as_the_fourier_transforms_take_them(module):
    kinds = {tf.float16: tf.complex64, tf.int32: tf.complex64, tf.float64: tf.complex128, tf.complex64: tf.complex64}
    for given, complex_kind in kinds.items():
        assert module._to_complex(tf.constant([1, 2], given)).dtype == complex_kind


def test_transforms_and_turned_axes():
    assert run(linear_operator_circulant._IFFT_OP[1](linear_operator_circulant._FFT_OP[1]([1j, 2]))).tolist() == [1j, 2]
    x = np.arange(6.0).reshape(1, 2, 3)
    assert run(linear_operator_kronecker._rotate_last_dim(x)).shape == (2, 3, 1)
    assert run(linear_operator_kronecker._rotate_last_dim(x, rotate_right=True)).shape == (3, 1, 2)


def test_checkpoints_of_the_first_format(tmp_path):
    path = str(tmp_path / "ck")
    run([io_ops._save(path, ["a"], [tf.constant([1.0, 2.0])]), io_ops._save(path + "s", ["a"], [[5]], ["2 1 0,1:0,1"])])
    assert run(tf.raw_ops.Restore(file_pattern=path, tensor_name="a", dt=tf.float32)).tolist() == [1, 2]
    part = io_ops._restore_slice(path + "s", "a", "2 1 0,1:0,1", tf.int32)
    assert run(part).tolist() == [[5]]
    with pytest.raises(ValueError):
        io_ops._save(path, ["a", "b"], [tf.constant(1.0)])
    with pytest.raises(ValueError):
        tf.raw_ops.SaveV2(prefix=path, tensor_names=["a"], shape_and_slices=["", ""], tensors=[tf.constant(1.0)])


def test_checked_images():
    one = np.ones([2, 2, 1], np.float32)
    for check in (image_ops_impl._Assert3DImage, image_ops_impl._AssertGrayscaleImage):
        assert run(check(tf.constant(one))).shape == (2, 2, 1)
        with pytest.raises(ValueError):
            check(tf.ones([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(image_ops_impl._AssertGrayscaleImage(tf.placeholder_with_default(np.ones([2, 2, 3]), None)))
    assert sum(image_ops_impl._MSSSIM_WEIGHTS) == pytest.approx(1, abs=1e-4)
    assert run(image_ops_impl._fspecial_gauss(3, 1.5)).sum() == pytest.approx(1)


def test_names_of_accumulators_and_guarded_initial_values():
    assert while_v2._build_accumulator_name(tf.constant(1.0, name="a/b")) == "a/b_0/accumulator"
    value = variables.VariableV1(1.0, use_resource=False) + 1
    assert run(variables._try_guard_against_uninitialized_dependencies("y", value)) == 2
