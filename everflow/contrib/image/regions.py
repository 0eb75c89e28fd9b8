"""Connected regions of equal pixels, and bipartite matching of rows and columns."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, control_flow, math


def connected_components(images):
    """Numbers from 1 for the regions of equal nonzero neighbours in an image or batch; 0 for zero pixels."""
    with name_scope("connected_components"):
        image_or_images = convert_to_tensor(images, name="images")
        if len(image_or_images.shape) == 2:
            images = image_or_images[None, :, :]
        elif len(image_or_images.shape) == 3:
            images = image_or_images
        else:
            raise TypeError(f"Wanted [height, width] or [n, height, width], got the shape {image_or_images.shape}")
        components = raw.ImageConnectedComponents(image=images)
        # The op's numbers have gaps: renumber those that occur.
        flat = array.reshape(components, [-1])
        unique_ids, id_index = array.unique(flat)
        zero_place = array.where(math.equal(unique_ids, 0))[:, 0]
        others = array.shape(unique_ids)[0] - array.shape(zero_place)[0]
        consecutive = math.range(others) + 1

        def insert_zero():
            place = math.cast(zero_place[0], dtypes.int32)
            return array.concat([consecutive[:place], [0], consecutive[place:]], axis=0)

        new_ids = control_flow.cond(math.equal(array.shape(zero_place)[0], 0), lambda: consecutive, insert_zero)
        renumbered = array.reshape(array.gather(new_ids, id_index), array.shape(components))
        return renumbered[0, :, :] if len(image_or_images.shape) == 2 else renumbered


def bipartite_match(distance_mat, num_valid_rows, top_k=-1, name="bipartite_match"):
    """(for each row its column, for each column its row) of a greedy matching, nearest pairs first; -1 for none."""
    return raw.BipartiteMatch(distance_mat=distance_mat, num_valid_rows=num_valid_rows, top_k=top_k, name=name)


@shape_rule("ImageConnectedComponents")
def _components_shape(op):
    return op.inputs[0].shape


@shape_rule("BipartiteMatch")
def _bipartite_shape(op):
    distances = op.inputs[0].shape.with_rank(2)
    return [TensorShape([distances[0]]), TensorShape([distances[1]])]


not_differentiable("BipartiteMatch", "ImageConnectedComponents")
