"""Optimizers outside the graph: scipy's, which get the loss and its gradient as functions of one flat vector."""

from __future__ import annotations

import numpy as np

from everflow.framework.scopes import get_default_session
from everflow.ops import array
from everflow.ops.array.constants import placeholder
from everflow.ops.gradients import reverse as gradients
from everflow.ops.variables import variable as variables
from everflow.platform import logging


class ExternalOptimizerInterface:
    """Base class of interfaces to optimizers that run outside the graph; a subclass defines `_minimize`."""

    def __init__(self, loss, var_list=None, equalities=None, inequalities=None, var_to_bounds=None, **optimizer_kwargs):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = variables.trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._update_placeholders = [placeholder(v.dtype.base_dtype) for v in self._vars]
        pairs = zip(self._vars, self._update_placeholders, strict=True)
        self._var_updates = [v.assign(array.reshape(p, _dims(v))) for v, p in pairs]
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad = self._gradient_of(loss)
        self._packed_equality_grads = [self._gradient_of(e) for e in self._equalities]
        self._packed_inequality_grads = [self._gradient_of(e) for e in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs
        sizes = [int(np.prod(_dims(v))) for v in self._vars]
        ends = np.cumsum(sizes)
        self._packing_slices = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes, strict=True)]

    def _bounds(self, var_to_bounds):
        """(low, high) for each element of the flat vector."""
        left, right = [], []
        for v in self._vars:
            shape = _dims(v)
            bounds = var_to_bounds.get(v, (-np.inf, np.inf))
            left.extend(np.broadcast_to(bounds[0], shape).flat)
            right.extend(np.broadcast_to(bounds[1], shape).flat)
        return list(zip(left, right, strict=True))

    def _gradient_of(self, scalar):
        found = gradients.gradients(scalar, self._vars)
        return self._pack([g if g is not None else array.zeros_like(v) for g, v in zip(found, self._vars, strict=True)])

    @staticmethod
    def _pack(tensors):
        if not tensors:
            return None
        flat = [array.reshape(t, [-1]) for t in tensors]
        return flat[0] if len(flat) == 1 else array.concat(flat, 0)

    def minimize(
        self, session=None, feed_dict=None, fetches=None, step_callback=None, loss_callback=None, **run_kwargs
    ):
        """Minimize the loss and leave the result in the variables.

        `loss_callback` gets `fetches`' values at each evaluation, `step_callback` the flat vector of each step.
        """
        session = session or get_default_session()
        feed_dict = feed_dict or {}
        fetches = fetches or []
        loss_callback = loss_callback or (lambda *fetched: None)
        step_callback = step_callback or (lambda x: None)

        def evaluator(tensors, extra, callback):
            return self._evaluator(session, tensors, feed_dict, extra, callback, run_kwargs)

        result = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=evaluator([self._loss, self._packed_loss_grad], fetches, loss_callback),
            equality_funcs=[evaluator([e], [], None) for e in self._equalities],
            equality_grad_funcs=[evaluator([g], [], None) for g in self._packed_equality_grads],
            inequality_funcs=[evaluator([e], [], None) for e in self._inequalities],
            inequality_grad_funcs=[evaluator([g], [], None) for g in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )
        parts = [result[part] for part in self._packing_slices]
        session.run(self._var_updates, feed_dict=dict(zip(self._update_placeholders, parts, strict=True)), **run_kwargs)

    def _evaluator(self, session, tensors, feed_dict, fetches, callback, run_kwargs):
        def evaluate(x):
            fed = dict(feed_dict)
            for variable, part, update, holder in zip(
                self._vars, self._packing_slices, self._var_updates, self._update_placeholders, strict=True
            ):
                if hasattr(variable, "handle"):  # read anew by each op: only a change reaches them all
                    session.run(update, {holder: x[part]}, **run_kwargs)
                else:  # not changed, but fed: nothing else in the graph sees the trial
                    fed[variable._as_graph_element()] = x[part].reshape(_dims(variable))
            values = session.run(list(tensors) + list(fetches), feed_dict=fed, **run_kwargs)
            if callback is not None:
                callback(*values[len(tensors) :])
            found = [np.asarray(v).astype("float64") for v in values[: len(tensors)]]
            return found[0] if len(tensors) == 1 else found

        return evaluate

    def _minimize(self, initial_val, loss_grad_func, **given):
        raise NotImplementedError("ExternalOptimizerInterface is a base class: a subclass defines _minimize()")


def _dims(variable):
    return tuple(variable.get_shape().as_list())


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """`scipy.optimize.minimize` on a loss of the graph; L-BFGS-B unless `method` says otherwise.

    >>> optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, options={"maxiter": 100})
    >>> optimizer.minimize(session)
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, initial_val, loss_grad_func, *, packed_bounds, step_callback, optimizer_kwargs, **constrained):
        import scipy.optimize

        def wrapped(x):
            loss, gradient = loss_grad_func(x)
            return loss, gradient.astype("float64")

        options = dict(optimizer_kwargs)
        method = options.pop("method", self._DEFAULT_METHOD)
        constraints = [
            {"type": kind, "fun": fun, "jac": jac}
            for kind, name in (("eq", "equality"), ("ineq", "inequality"))
            for fun, jac in zip(constrained[f"{name}_funcs"], constrained[f"{name}_grad_funcs"], strict=True)
        ]
        minimize_kwargs = {"jac": True, "callback": step_callback, "method": method}
        minimize_kwargs.update(constraints=constraints, bounds=packed_bounds)
        for key in minimize_kwargs:
            if key in options:
                if key == "bounds":
                    raise ValueError("'bounds' can't be given: say them by variable, in var_to_bounds")
                raise ValueError(f"{key!r} can't be given: the interface sets it itself")
        minimize_kwargs.update(options)
        if method == "SLSQP":
            # SLSQP wants its callback's vector, which may be of another type.
            minimize_kwargs["callback"] = lambda x: step_callback(np.asarray(x))
        # Some methods of today's scipy refuse other types than float64.
        result = scipy.optimize.minimize(wrapped, np.asarray(initial_val, "float64"), **minimize_kwargs)
        logging.info("Optimization terminated with:\n  Message: %s", result.message)
        logging.info(
            "  Objective function value: %f\n  Number of iterations: %s", result.fun, getattr(result, "nit", None)
        )
        logging.info("  Number of functions evaluations: %d", result.nfev)
        return result["x"]
