"""Tags by which the meta graphs of a SavedModel are told apart."""

SERVING = "serve"
TRAINING = "train"
EVAL = "eval"
GPU = "gpu"
TPU = "tpu"
