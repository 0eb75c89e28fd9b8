"""tf.contrib.hooks: the profiler's hook, which is also tf.train.ProfilerHook."""

from everflow.train import ProfilerHook

__all__ = ["ProfilerHook"]
