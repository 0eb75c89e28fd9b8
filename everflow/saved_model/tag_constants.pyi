# Made by `make stubs`.

EVAL: str
GPU: str
SERVING: str
TPU: str
TRAINING: str
