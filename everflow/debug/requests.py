"""What a session that is debugged asks before and after a run, and the answers: classes derived from
`BaseDebugWrapperSession` get the ones and give the others.
"""

from __future__ import annotations


def _check_type(value, kinds):
    if not isinstance(value, kinds):
        raise TypeError(f"{kinds} is wanted, not {type(value)}")


class OnSessionInitAction:
    """What to do once a session is wrapped."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"


class OnRunStartAction:
    """How to run: with dumps, with a profile, or as if there were no debugger."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"


class OnSessionInitRequest:
    """A session was wrapped."""

    def __init__(self, sess):
        if not hasattr(sess, "run") or not hasattr(sess, "graph"):
            raise TypeError(f"Expected type BaseSession; got type {type(sess)}")
        self.session = sess


class OnSessionInitResponse:
    """What to do then."""

    def __init__(self, action):
        _check_type(action, str)
        self.action = action


class OnRunStartRequest:
    """A run is about to begin."""

    def __init__(self, fetches, feed_dict, run_options, run_metadata, run_call_count, is_callable_runner=False):
        self.fetches, self.feed_dict = fetches, feed_dict
        self.run_options, self.run_metadata = run_options, run_metadata
        self.run_call_count = run_call_count
        self.is_callable_runner = is_callable_runner


class OnRunStartResponse:
    """How it is to run, where dumps go, and of which nodes they are."""

    def __init__(
        self,
        action,
        debug_urls,
        debug_ops="DebugIdentity",
        node_name_regex_whitelist=None,
        op_type_regex_whitelist=None,
        tensor_dtype_regex_whitelist=None,
        tolerate_debug_op_creation_failures=False,
    ):
        _check_type(action, str)
        _check_type(debug_urls, list)
        self.action, self.debug_urls, self.debug_ops = action, debug_urls, debug_ops
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures


class OnRunEndRequest:
    """A run has ended, well or with an error."""

    def __init__(self, performed_action, run_metadata=None, client_graph_def=None, tf_error=None):
        _check_type(performed_action, str)
        self.performed_action = performed_action
        self.run_metadata, self.client_graph_def, self.tf_error = run_metadata, client_graph_def, tf_error


class OnRunEndResponse:
    """Nothing has to be said to that."""
