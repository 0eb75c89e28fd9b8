"""Warps of images by a flow at each pixel, or by a spline through control points."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks import values as check
from everflow.ops.linalg import decompositions as linalg

# Distances below this count as this, since the spline's kernel has a logarithm.
_EPSILON = 0.0000000001


def _interpolate_bilinear(grid, query_points, name="interpolate_bilinear", indexing="ij"):
    """Values of a grid [batch, height, width, channels] at points [batch, n, 2]."""
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with name_scope(name):
        grid, query_points = convert_to_tensor(grid), convert_to_tensor(query_points)
        if len(grid.shape) != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        if len(query_points.shape) != 3:
            raise ValueError("Query points must be 3 dimensional.")
        if query_points.shape.size(2) not in (None, 2):
            raise ValueError("Query points must be size 2 in dim 2.")
        return _interpolated(grid, query_points, [array.shape(grid)[i] for i in range(4)], indexing)


def _interpolated(grid, query_points, sizes, indexing):
    batch, height, width, channels = sizes
    message = "Query points must be size 2 in dim 2."
    static = query_points.shape.size(2)
    pairs = [] if static is None else [check.assert_equal(static, 2, message=message)]
    pairs.append(check.assert_equal(array.shape(query_points)[2], 2, message=message))
    with control_dependencies(pairs):
        count = array.shape(query_points)[1]
    with control_dependencies(
        [
            check.assert_greater_equal(height, 2, message="Grid height must be at least 2."),
            check.assert_greater_equal(width, 2, message="Grid width must be at least 2."),
        ]
    ):
        points = array.unstack(query_points, axis=2)
    dims = [0, 1] if indexing == "ij" else [1, 0]
    neighbours = [_neighbours(dim, points[dim], sizes[dim + 1], grid.dtype) for dim in dims]
    floors, ceilings, alphas = zip(*neighbours)
    size, most = math.cast(batch * height * width, dtype=dtypes.float32), np.iinfo(np.int32).max / 8
    within = check.assert_less_equal(size, most, message="The image size or batch size is too large.")
    with control_dependencies([within]):
        flattened = array.reshape(grid, [batch * height * width, channels])
        offsets = array.reshape(math.range(batch) * height * width, [batch, 1])

    def gather(y, x, name):
        with name_scope("gather-" + name):
            values = array.gather(flattened, offsets + y * width + x)
            return array.reshape(values, [batch, count, channels])

    top_left = gather(floors[0], floors[1], "top_left")
    top_right = gather(floors[0], ceilings[1], "top_right")
    bottom_left = gather(ceilings[0], floors[1], "bottom_left")
    bottom_right = gather(ceilings[0], ceilings[1], "bottom_right")
    with name_scope("interpolate"):
        top = alphas[1] * (top_right - top_left) + top_left
        bottom = alphas[1] * (bottom_right - bottom_left) + bottom_left
        return alphas[0] * (bottom - top) + top


def _neighbours(dim, queries, size, dtype):
    """(pixel before, pixel after, how far the point is between them) along one dimension."""
    with name_scope(f"dim-{dim}"):
        # The floor stays low enough for its neighbour to exist.
        most = math.cast(size - 2, queries.dtype)
        floor = math.minimum(math.maximum(constant(0.0, dtype=queries.dtype), math.floor(queries)), most)
        before = math.cast(floor, dtypes.int32)
        after = before + 1
        alpha = math.cast(queries - floor, dtype)
        zero, one = constant(0.0, dtype=dtype), constant(1.0, dtype=dtype)
        return before, after, array.expand_dims(math.minimum(math.maximum(zero, alpha), one), 2)


def dense_image_warp(image, flow, name="dense_image_warp"):
    """Images whose pixel (j, i) comes from (j - flow[..., 0], i - flow[..., 1]), interpolated."""
    with name_scope(name):
        batch, height, width, channels = (array.shape(image)[i] for i in range(4))
        grid_x, grid_y = array.meshgrid(math.range(width), math.range(height))
        grid = math.cast(array.stack([grid_y, grid_x], axis=2), flow.dtype)
        points = array.expand_dims(grid, axis=0) - flow
        points = array.reshape(points, [batch, height * width, 2])
        values = _interpolate_bilinear(image, points)
        return array.reshape(values, [batch, height, width, channels])


def _cross_squared_distance(x, y):
    """[batch, n, m] of squared distances of n points from m points."""
    squares = [math.reduce_sum(math.square(points), 2) for points in (x, y)]
    x_squares, y_squares = (array.expand_dims(norms, axis) for norms, axis in zip(squares, (2, 1)))
    return x_squares - 2 * math.matmul(x, y, adjoint_b=True) + y_squares


def _phi(r, order):
    """The radial kernel of a polyharmonic spline, of squared distances."""
    with name_scope("phi"):
        if order == 1:
            return math.sqrt(math.maximum(r, _EPSILON))
        if order == 2:
            return 0.5 * r * math.log(math.maximum(r, _EPSILON))
        if order == 4:
            return 0.5 * math.square(r) * math.log(math.maximum(r, _EPSILON))
        if order % 2 == 0:
            r = math.maximum(r, _EPSILON)
            return 0.5 * math.pow(r, 0.5 * order) * math.log(r)
        return math.pow(math.maximum(r, _EPSILON), 0.5 * order)


def interpolate_spline(
    train_points, train_values, query_points, order, regularization_weight=0.0, name="interpolate_spline"
):
    """Values at query points of the polyharmonic spline through [batch, n, d] points with [batch, n, k] values."""
    with name_scope(name):
        given = (train_points, train_values, query_points)
        train_points, train_values, query_points = (convert_to_tensor(t) for t in given)
        with name_scope("solve"):
            weights, linear = _solve_spline(train_points, train_values, order, regularization_weight)
        with name_scope("predict"):
            radial = math.matmul(_phi(_cross_squared_distance(query_points, train_points), order), weights)
            ones = array.ones_like(query_points[..., :1], dtype=train_points.dtype)
            return radial + math.matmul(array.concat([query_points, ones], 2), linear)


def _pairwise_squared_distance(x):
    """[batch, n, n] of squared distances between n points."""
    products = math.matmul(x, x, adjoint_b=True)
    squares = array.expand_dims(array.matrix_diag_part(products), 2)
    return squares - 2 * products + array.transpose(squares, [0, 2, 1])


def _solve_spline(points, values, order, regularization_weight):
    """(weights of the radial part, of the linear part), by one linear system."""
    batch, count, _ = array.unstack(array.shape(points), num=3)
    terms, outputs = points.shape.size(2) + 1, values.shape.size(2)
    with name_scope("construct_linear_system"):
        matrix = _phi(_pairwise_squared_distance(points), order)
        if regularization_weight > 0:
            matrix += regularization_weight * array.expand_dims(linalg.eye(count, dtype=points.dtype), 0)
        affine = array.concat([points, array.ones_like(points[..., :1], dtype=points.dtype)], 2)
        left = array.concat([matrix, array.transpose(affine, [0, 2, 1])], 1)
        right = array.concat([affine, array.zeros([batch, terms, terms], points.dtype)], 1)
        lhs = array.concat([left, right], 2)
        rhs = array.concat([values, array.zeros([batch, terms, outputs], points.dtype)], 1)
    with name_scope("solve_linear_system"):
        solved = linalg.matrix_solve(lhs, rhs)
        return solved[:, :count, :], solved[:, count:, :]


def _boundary_points(height, width, per_edge):
    """Points at the corners and, beyond those, spaced along the edges."""
    ys, xs = (np.linspace(0, side - 1, per_edge + 2) for side in (height, width))
    ys, xs = (np.meshgrid(ys, xs, indexing="ij")[i].flatten() for i in (0, 1))
    on_edge = (ys == 0) | (ys == height - 1) | (xs == 0) | (xs == width - 1)
    return np.stack([ys[on_edge], xs[on_edge]], axis=-1)


def sparse_image_warp(image, source_control_point_locations, dest_control_point_locations, interpolation_order=2,
                      regularization_weight=0.0, num_boundary_points=0, name="sparse_image_warp"):  # fmt: skip
    """(images warped so that source points come to lie at destination points, the flow that does it)."""
    image = convert_to_tensor(image)
    source = convert_to_tensor(source_control_point_locations)
    dest = convert_to_tensor(dest_control_point_locations)
    flow_change = dest - source
    with name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        ys, xs = np.meshgrid(np.linspace(0, height - 1, height), np.linspace(0, width - 1, width), indexing="ij")
        grid = constant(np.tile(np.stack([ys, xs], -1).reshape(1, -1, 2), [batch, 1, 1]), dtype=dest.dtype)
        if num_boundary_points > 0:
            edge = np.tile(_boundary_points(height, width, num_boundary_points - 1)[None], [batch, 1, 1])
            edge, still = constant(edge, dtype=dest.dtype), constant(np.zeros_like(edge), dtype=dest.dtype)
            dest = array.concat([dest, edge], 1)
            flow_change = array.concat([flow_change, still], 1)
        flat = interpolate_spline(dest, flow_change, grid, interpolation_order, regularization_weight)
        flow = array.reshape(flat, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow
