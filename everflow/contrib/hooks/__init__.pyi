# Made by `make stubs`.

from everflow.estimator import ProfilerHook as ProfilerHook
