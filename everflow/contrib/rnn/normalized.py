"""LSTMs with peepholes, clipping and projection whose weights, or gates, are normalised."""

from __future__ import annotations

from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.rnn.gated import layer_norm
from everflow.contrib.rnn.linear import known_width
from everflow.ops import array, math
from everflow.ops.math.clip import clip_by_value
from everflow.ops.nn import activations as nn
from everflow.ops.nn.normalization import l2_normalize
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.rnn.cells import LSTMStateTuple, RNNCell


class _NormalizedLSTM(RNNCell):
    """What both share: gates from `_gates`, then an LSTM's step."""

    output_size = property(lambda self: self._num_proj or self._num_units)
    state_size = property(lambda self: LSTMStateTuple(self._num_units, self.output_size))

    def _normalized_state(self, c):
        return c

    def _step(self, gates, c_before, dtype):
        """(the memory, the output before projection) from the four gates."""
        i, j, f, o = gates
        peep = {}
        if self._use_peepholes:
            peep = {gate: scopes.get_variable(f"w_{gate}_diag", shape=[self._num_units], dtype=dtype) for gate in "fio"}

        def opened(gate, name, c):
            return math.sigmoid(gate + peep[name] * c if peep else gate)

        forget = opened(f + self._forget_bias, "f", c_before)
        old = self._kept(c_before, forget)
        c = self._normalized_state(old + opened(i, "i", c_before) * self._activation(j))
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        return c, opened(o, "o", c) * self._activation(c)

    def _clipped_projection(self, m):
        return m if self._proj_clip is None else clip_by_value(m, -self._proj_clip, self._proj_clip)


class WeightNormLSTMCell(_NormalizedLSTM):
    """LSTM whose weights are directions and lengths (Salimans and Kingma's weight normalisation)."""

    def __init__(
        self,
        num_units,
        norm=True,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        forget_bias=1,
        activation=None,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._scope = "wn_lstm_cell"
        keep(self, locals())
        self._activation = activation or math.tanh

    def _kept(self, c, forget):
        return c * forget

    def _product(self, args, size, bias):
        """`args` joined and multiplied by weights, whose columns are normalised for each of `args` apart."""
        widths = [known_width(arg) for arg in args]
        dtype = args[0].dtype
        kernel = scopes.get_variable("kernel", [sum(widths), size], dtype=dtype)
        if self._norm:
            parts, start = [], 0
            for place, width in enumerate(widths):
                length = scopes.get_variable(f"norm_{place}", [size], dtype=dtype)
                parts.append(l2_normalize(kernel[start : start + width, :], axis=0) * length)
                start += width
            kernel = array.concat(parts, 0)
        result = math.matmul(args[0] if len(args) == 1 else array.concat(args, 1), kernel)
        if not bias:
            return result
        return nn.bias_add(
            result, scopes.get_variable("bias", [size], dtype=dtype, initializer=initializers.zeros_initializer())
        )

    def call(self, inputs, state):
        """One step of the LSTM."""
        c, h = state
        with scopes.variable_scope(self._scope, initializer=self._initializer):
            gates = self._product([inputs, h], 4 * self._num_units, bias=True)
            new_c, new_h = self._step(array.split(gates, 4, axis=1), c, inputs.dtype)
            if self._num_proj is not None:
                with scopes.variable_scope("projection"):
                    new_h = self._product([new_h], self._num_proj, bias=False)
                new_h = self._clipped_projection(new_h)
        return new_h, LSTMStateTuple(new_c, new_h)


class LayerNormLSTMCell(_NormalizedLSTM):
    """LSTM with layer normalisation of its gates and its memory, where asked for."""

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        forget_bias=1.0,
        activation=None,
        layer_norm=False,
        norm_gain=1.0,
        norm_shift=0.0,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        keep(self, locals())
        self._activation = activation or math.tanh

    def _kept(self, c, forget):
        return forget * c

    def _norm(self, values, scope):
        return layer_norm(values, scope, self._norm_gain, self._norm_shift) if self._layer_norm else values

    def _normalized_state(self, c):
        return self._norm(c, "state")

    def call(self, inputs, state):
        """One step of the LSTM."""
        c, m = state
        known_width(inputs)
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            args = array.concat([inputs, m], 1)
            kernel = scopes.get_variable("kernel", [args.shape.size(-1), 4 * self._num_units], dtype=args.dtype)
            gates = math.matmul(args, kernel)
            bias = scopes.get_variable(
                "bias", [4 * self._num_units], dtype=args.dtype, initializer=initializers.zeros_initializer()
            )
            if not self._layer_norm:
                gates = nn.bias_add(gates, bias)
            names = ("input", "transform", "forget", "output")
            gates = [self._norm(gate, name) for gate, name in zip(array.split(gates, 4, axis=1), names)]
            new_c, new_m = self._step(gates, c, inputs.dtype)
            if self._num_proj is not None:
                with scopes.variable_scope("projection"):
                    weights = scopes.get_variable("kernel", [self._num_units, self._num_proj], dtype=inputs.dtype)
                    new_m = math.matmul(new_m, weights)
                new_m = self._clipped_projection(new_m)
        return new_m, LSTMStateTuple(new_c, new_m)
