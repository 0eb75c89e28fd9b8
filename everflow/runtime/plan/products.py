"""Rules for products: with a bias in one call, and of some columns only."""

from __future__ import annotations

from typing import Any

from everflow.framework import dtypes
from everflow.runtime.plan.patterns import Bits, Match, Rule, op, value
from everflow.runtime.plan.program import Edge, Node, internal

_CONVOLUTION = "strides padding explicit_paddings data_format dilations"
CONV2D_BIAS = internal("_Conv2DBias", "input filter bias", attributes=_CONVOLUTION)
MATMUL_BIAS = internal("_MatMulBias", "a b bias", attributes="transpose_a transpose_b")
MATMUL_COLUMNS = internal("_MatMulColumns", "a b", attributes="transpose_a transpose_b start count")


def transposes(node: Node) -> dict[str, Any]:
    """The attributes of a matrix product."""
    return {name: bool(node.attribute(name)) for name in ("transpose_a", "transpose_b")}


def is_float_matmul(edge: Edge) -> bool:
    """Whether an edge is a product of matrices of numbers with a fraction."""
    return edge[0].type == "MatMul" and edge[0].output_dtypes[0].is_floating


def _is_bias(edge: Edge, product: Node, rank: int) -> bool:
    """Whether a value is a vector as long as the product's last dimension."""
    shape, wide = edge[0].output_shapes[edge[1]], product.output_shapes[0]
    if shape is None or shape.ndims != 1 or wide is None or wide.ndims != rank:
        return False
    length, columns = shape.as_list()[0], wide.as_list()[-1]
    return length is not None and length == columns


def _with_bias(m: Match) -> Node | None:
    product = m.product[0]
    if not is_float_matmul(m.product) or not _is_bias(m.bias, product, 2):
        return None
    return m.node(MATMUL_BIAS, [m.a, m.b, m.bias], **transposes(product))


def _convolution_with_bias(m: Match) -> Node | None:
    product = m.product[0]
    if product.output_dtypes[0] not in (dtypes.float32, dtypes.float64) or product.attribute("data_format") != "NHWC":
        return None
    if not _is_bias(m.bias, product, 4):
        return None
    return m.node(CONV2D_BIAS, [m.a, m.b, m.bias], **{name: product.attribute(name) for name in _CONVOLUTION.split()})


def _columns(m: Match) -> Node | None:
    """A slice of some columns of a product, as the gradient of a joined input has: the product with those columns only."""
    product = m.product[0]
    begin, size, shape = m.root.constant_input(1), m.root.constant_input(2), product.shape()
    if begin is None or size is None or shape is None or tuple(begin.shape) != (2,) or not is_float_matmul(m.product):
        return None
    (rows, columns), (first_row, start), (row_count, count) = shape, begin.tolist(), size.tolist()
    count = columns - start if count == -1 else count
    if first_row != 0 or row_count not in (-1, rows) or start < 0 or count <= 0 or start + count > columns:
        return None
    return m.node(MATMUL_COLUMNS, [m.a, m.b], **transposes(product), start=start, count=count)


a, b, bias = value("a"), value("b"), value("bias")
_MATMUL = op("MatMul", a, b, name="product", alone=True)
_CONV2D = op("Conv2D", a, b, name="product", alone=True)

PRODUCTS = [
    Rule(
        "columns of a product",
        "arithmetic_optimization",
        op("Slice", _MATMUL, value("begin"), value("size")),
        _columns,
        bits=Bits.REORDERED,
    ),
    Rule("product with bias", "remapping", op("BiasAdd", _MATMUL, bias), _with_bias),
    Rule("product with bias", "remapping", op("Add AddV2", _MATMUL, bias, commutes=True), _with_bias),
    Rule("product with bias", "remapping", op("BiasAdd", _CONV2D, bias), _convolution_with_bias),
    Rule("product with bias", "remapping", op("Add AddV2", _CONV2D, bias, commutes=True), _convolution_with_bias),
]
