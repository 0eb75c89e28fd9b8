"""What input functions return: tensors, or a dataset whose iterator a hook initializes in each session."""

from __future__ import annotations

from everflow.data.dataset import Dataset
from everflow.train.session_run_hook import SessionRunHook


class DatasetInitializerHook(SessionRunHook):
    """Starts a dataset's iterator when a session is made."""

    def __init__(self, iterator):
        self._iterator = iterator

    def begin(self):
        self._initializer = self._iterator.initializer

    def after_create_session(self, session, coord):
        session.run(self._initializer)


def parse_input_fn_result(result):
    """(features, labels, hooks) of what an input function returned."""
    hooks = []
    if isinstance(result, Dataset):
        iterator = result.make_initializable_iterator()
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    return *features_and_labels(result), hooks


def features_and_labels(element):
    """(features, labels) of what an input function or its dataset gives; labels are None where there are none."""
    if not isinstance(element, (list, tuple)):
        return element, None
    if len(element) != 2:
        raise ValueError(f"input_fn should return (features, labels) as a len 2 tuple, not {len(element)} values.")
    return tuple(element)
