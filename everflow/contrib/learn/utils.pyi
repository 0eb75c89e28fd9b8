# Made by `make stubs`.

from everflow.contrib.learn import InputFnOps as InputFnOps
from everflow.contrib.learn import build_parsing_serving_input_fn as build_parsing_serving_input_fn
from everflow.contrib.learn import make_export_strategy as make_export_strategy
