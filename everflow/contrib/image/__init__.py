"""tf.contrib.image: projective transforms, warps, regions, matching and stereograms."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.image.regions import bipartite_match, connected_components
from everflow.contrib.image.stereograms import single_image_random_dot_stereograms
from everflow.contrib.image.transforms import (
    angles_to_projective_transforms,
    compose_transforms,
    flat_transforms_to_matrices,
    matrices_to_flat_transforms,
    rotate,
    transform,
    translate,
    translations_to_projective_transforms,
)
from everflow.contrib.image.warp import dense_image_warp, interpolate_spline, sparse_image_warp
