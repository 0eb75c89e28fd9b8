"""Circulant matrices in one to three dimensions: the Fourier transform makes them diagonal, with their spectrum on it."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, dimension_value
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.linalg import decompositions as linalg
from everflow.ops.linalg.operators import broadcasting as broadcast
from everflow.ops.linalg.operators.base import LinearOperator
from everflow.ops.math.fft import fft, fft2d, fft3d, ifft, ifft2d, ifft3d

_TRANSFORMS = {1: (fft, ifft), 2: (fft2d, ifft2d), 3: (fft3d, ifft3d)}


def _as_complex(x):
    """A tensor as the Fourier transforms take it."""
    if x.dtype.is_complex:
        return x
    return math.cast(x, dtypes.complex128 if x.dtype == dtypes.float64 else dtypes.complex64)


class _BaseLinearOperatorCirculant(LinearOperator):
    def __init__(
        self,
        spectrum,
        block_depth,
        input_output_dtype=dtypes.complex64,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name="LinearOperatorCirculant",
    ):
        self._block_depth = block_depth
        with name_scope(name, values=[spectrum]):
            self._spectrum = convert_to_tensor(spectrum, name="spectrum")
            broadcast.check_dimensions(self._spectrum, "spectrum", block_depth)
            self._block_shape_value = array.shape(self._spectrum)[-block_depth:]
            if not self._spectrum.dtype.is_complex:
                is_self_adjoint = broadcast.settled(
                    "The operator of a real spectrum", "is_self_adjoint", is_self_adjoint
                )
            is_square = broadcast.settled("A circulant operator", "is_square", is_square)
            super().__init__(
                dtypes.as_dtype(input_output_dtype),
                [self._spectrum],
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )
            # What the transforms take: the spectrum itself stays real where it was given so.
            self._complex_spectrum = _as_complex(self._spectrum)
            self._abs_spectrum = math.abs(self._spectrum)
            self._conj_spectrum = math.conj(self._complex_spectrum)

    block_depth = property(lambda self: self._block_depth)

    @property
    def block_shape(self):
        return self._spectrum.shape[-self._block_depth :]

    def block_shape_tensor(self):
        return self._block_shape_value

    spectrum = property(lambda self: self._spectrum)

    def _shape(self):
        size = self.block_shape.num_elements() if self.block_shape.rank is not None else None
        return self._spectrum.shape[: -self._block_depth].concatenate([size, size])

    def _shape_tensor(self):
        shape = array.shape(self._spectrum)
        size = math.reduce_prod(shape[-self._block_depth :])
        return array.concat((shape[: -self._block_depth], [size, size]), 0)

    def _fft(self, x):
        return _TRANSFORMS[self._block_depth][0](_as_complex(x))

    def _ifft(self, x):
        return _TRANSFORMS[self._block_depth][1](_as_complex(x))

    def convolution_kernel(self, name="convolution_kernel"):
        """The kernel whose cyclic convolution this operator is."""
        with self._name_scope(name):
            return math.cast(self._ifft(self._complex_spectrum), self.dtype)

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """An op that fails unless the spectrum is Hermitian, which makes the operator real."""
        with self._name_scope(name):
            max_error = 1e-6 * math.cast(self.domain_dimension_tensor(), self.dtype.real_dtype)
            imaginary = math.imag(self.convolution_kernel())
            return check.assert_less(math.abs(imaginary), max_error, message="Spectrum was not Hermitian")

    def _assert_non_singular(self):
        return broadcast.assert_no_entries_with_modulus_zero(
            self._spectrum, message="Singular operator:  Spectrum contained zero values."
        )

    def _assert_positive_definite(self):
        message = "Not positive definite:  Real part of spectrum was not all positive."
        return check.assert_positive(math.real(self._spectrum), message=message)

    def _assert_self_adjoint(self):
        return broadcast.assert_zero_imag_part(
            self._spectrum, message="Not self-adjoint:  The spectrum contained non-zero imaginary part."
        )

    def _blocks(self, x):
        """[..., size, k] as [k, ..., block shape]."""
        rotated = broadcast.rotate_transpose(x, shift=1)
        shape = rotated.shape
        if shape.is_fully_defined() and self.block_shape.is_fully_defined():
            return array.reshape(rotated, shape[:-1].concatenate(self.block_shape))
        return array.reshape(rotated, array.concat((array.shape(rotated)[:-1], self._block_shape_value), 0))

    def _unblocked(self, x):
        shape = x.shape
        depth = self._block_depth
        if shape.is_fully_defined():
            size = TensorShape(shape[-depth:]).num_elements()
            flat = array.reshape(x, shape[:-depth].concatenate([size]))
        else:
            size = math.reduce_prod(array.shape(x)[-depth:])
            flat = array.reshape(x, array.concat((array.shape(x)[:-depth], [size]), 0))
        return broadcast.rotate_transpose(flat, shift=-1)

    def _broadcast_batch_dims(self, x, spectrum):
        as_matrix = array.reshape(spectrum, array.concat((self.batch_shape_tensor(), [-1, 1]), axis=0))
        if not (x.shape[:-2].is_fully_defined() and x.shape[:-2] == as_matrix.shape[:-2]):
            x, as_matrix = broadcast.broadcast_matrix_batch_dims((x, as_matrix))
        batch = array.shape(x)[:-2]
        return x, array.reshape(as_matrix, array.concat((batch, self._block_shape_value), axis=0))

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = math.cast(linalg.adjoint(x) if adjoint_arg else x, self._complex_spectrum.dtype)
        spectrum = self._conj_spectrum if adjoint else self._complex_spectrum
        x, spectrum = self._broadcast_batch_dims(x, spectrum)
        transformed = self._fft(self._blocks(x))
        result = self._unblocked(self._ifft(spectrum * transformed))
        return math.cast(result, self.dtype)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg.adjoint(rhs) if adjoint_arg else rhs
        spectrum = self._conj_spectrum if adjoint else self._complex_spectrum
        rhs, spectrum = self._broadcast_batch_dims(rhs, spectrum)
        transformed = self._fft(self._blocks(rhs))
        result = self._unblocked(self._ifft(transformed / spectrum))
        return math.cast(result, self.dtype)

    def _determinant(self):
        axes = [-(i + 1) for i in range(self._block_depth)]
        return math.cast(math.reduce_prod(self._spectrum, axis=axes), self.dtype)

    def _log_abs_determinant(self):
        axes = [-(i + 1) for i in range(self._block_depth)]
        return math.cast(math.reduce_sum(math.log(self._abs_spectrum), axis=axes), self.dtype)

    def _diag_part(self):
        if self.shape.is_fully_defined():
            shape = self.batch_shape.concatenate([dimension_value(self.domain_dimension)])
            size = self.domain_dimension
            size = dimension_value(size)
        else:
            shape = array.concat((self.batch_shape_tensor(), [self.domain_dimension_tensor()]), axis=0)
            size = self.domain_dimension_tensor()
        ones = array.ones(shape=shape, dtype=self.dtype)
        value = self.trace() / math.cast(size, self.dtype)
        return value[..., None] * ones

    def _trace(self):
        axes = self._spectrum_axes()
        if not self.dtype.is_complex:
            return math.cast(math.reduce_sum(math.real(self._spectrum), axis=axes), self.dtype)
        real = math.reduce_sum(math.real(self._spectrum), axis=axes)
        if self.is_self_adjoint:
            return math.cast(math.complex(real, array.zeros_like(real)), self.dtype)
        imaginary = math.reduce_sum(math.imag(self._spectrum), axis=axes)
        return math.cast(math.complex(real, imaginary), self.dtype)

    def _spectrum_axes(self):
        rank = self._spectrum.shape.rank
        if rank is None:
            return math.range(-self._block_depth, 0)
        return list(range(rank - self._block_depth, rank))


_DOCUMENT = """Circulant matrices nested {depth} deep, by their spectrum: the transform of their convolution kernel.

Args:
    spectrum: The spectrum; its last {depth} dimensions are those of the kernel.
    input_output_dtype: The type of what they are applied to.
    is_non_singular: A promise that it has an inverse; None leaves it open.
    is_self_adjoint: A promise that it equals its conjugate transpose; None leaves it open.
    is_positive_definite: A promise that x^H A x has a positive real part for all x but 0; None leaves it open.
    is_square: A promise that it has as many rows as columns.
    name: What the operations' names start with.

Example:
    >>> operator = tf.linalg.{title}({ones})
    >>> operator.shape.as_list()
    [{rows}, {rows}]
"""


def _kind(depth, title):
    class Circulant(_BaseLinearOperatorCirculant):
        def __init__(
            self,
            spectrum,
            input_output_dtype=dtypes.complex64,
            is_non_singular=None,
            is_self_adjoint=None,
            is_positive_definite=None,
            is_square=True,
            name=title,
        ):
            super().__init__(
                spectrum,
                depth,
                input_output_dtype,
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                is_square,
                name,
            )

    Circulant.__name__ = Circulant.__qualname__ = title
    ones = f"tf.ones({[2] * depth})"
    Circulant.__doc__ = _DOCUMENT.format(depth=depth, title=title, ones=ones, rows=2**depth)
    return Circulant


LinearOperatorCirculant = _kind(1, "LinearOperatorCirculant")
LinearOperatorCirculant2D = _kind(2, "LinearOperatorCirculant2D")
LinearOperatorCirculant3D = _kind(3, "LinearOperatorCirculant3D")
