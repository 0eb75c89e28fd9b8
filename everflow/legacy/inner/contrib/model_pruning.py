"""Names of collections that programs take from inside tf.contrib.model_pruning."""

from everflow.contrib.model_pruning.masks import MASKED_WEIGHTS as MASKED_WEIGHT_COLLECTION
from everflow.contrib.model_pruning.masks import MASKS as MASK_COLLECTION
from everflow.contrib.model_pruning.masks import THRESHOLDS as THRESHOLD_COLLECTION
from everflow.contrib.model_pruning.masks import WEIGHTS as WEIGHT_COLLECTION

__all__ = [
    "MASKED_WEIGHT_COLLECTION",
    "MASKED_WEIGHT_NAME",
    "MASK_COLLECTION",
    "THRESHOLD_COLLECTION",
    "WEIGHT_COLLECTION",
]
MASKED_WEIGHT_NAME = "weights/masked_weight"
