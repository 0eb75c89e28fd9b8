"""`%load_ext everflow`: `%%tf` times what a cell runs and can draw a loss while it trains; errors show the cell's own
lines.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import shlex
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.notebook import displays
from everflow.platform import tracebacks
from everflow.runtime.session import BaseSession

_PAUSE = 0.4  # seconds between two drawings
_WIDTH, _HEIGHT, _MARGIN = 520, 200, 64


class Watch:
    """What runs of sessions do while a cell runs: how many, how long, and the values of some tensors."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.runs, self.seconds = 0, 0.0
        self.curves: dict[str, list[float]] = {name: [] for name in tensors}
        self._names = {id(tensor): name for name, tensor in tensors.items()}

    def saw(self, fetches: Any, values: Any, seconds: float) -> bool:
        """Note a run; whether one of the tensors was fetched in it."""
        self.runs += 1
        self.seconds += seconds
        asked = nest.flatten(fetches)
        found = [(self._names[id(f)], i) for i, f in enumerate(asked) if id(f) in self._names] if self._names else []
        if found:
            flat = nest.flatten_up_to(fetches, values) if nest.is_sequence(fetches) else [values]
            for name, i in found:
                self.curves[name].append(float(np.mean(flat[i])))
        return bool(found)


@contextlib.contextmanager
def watching(watch: Watch, drawing: Any) -> Iterator[None]:
    """Have all sessions tell the watch of their runs; `drawing()` is called when a curve has grown, not too often."""
    original, drawn = BaseSession.run, [0.0]

    def run(self: BaseSession, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        begin = time.perf_counter()
        values = original(self, fetches, *args, **kwargs)
        now = time.perf_counter()
        if watch.saw(fetches, values, now - begin) and now - drawn[0] > _PAUSE:
            drawn[0] = now
            drawing()
        return values

    BaseSession.run = run  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseSession.run = original  # type: ignore[method-assign]


def curves_svg(curves: dict[str, list[float]]) -> str:
    """Curves over the runs in which their tensors were fetched."""
    drawn = {name: [v for v in values if np.isfinite(v)] for name, values in curves.items()}
    drawn = {name: values for name, values in drawn.items() if values}
    if not drawn:
        return "<div>nothing fetched yet</div>"
    low, high = (f(map(f, drawn.values())) for f in (min, max))
    high = high if high > low else low + 1.0
    parts = []
    for i, (name, values) in enumerate(drawn.items()):
        xs = np.linspace(_MARGIN, _WIDTH - 8, max(len(values), 2))[: len(values)]
        ys = 8 + (_HEIGHT - 30) * (high - np.array(values)) / (high - low)
        keep = np.unique(np.linspace(0, len(values) - 1, min(len(values), 400)).astype(int))
        points = " ".join(f"{xs[k]:.1f},{ys[k]:.1f}" for k in keep)
        colour = ("#3b6fd4", "#e07b39", "#3a9d5d", "#a64ca6")[i % 4]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        label = html.escape(f"{name} {values[-1]:.4g}")
        parts.append(f'<text x="{_WIDTH - 10}" y="{20 + 16 * i}" fill="{colour}" text-anchor="end">{label}</text>')
    steps = max(map(len, drawn.values()))
    for value, y in ((high, 14), (low, _HEIGHT - 24)):
        parts.append(f'<text x="{_MARGIN - 6}" y="{y}" text-anchor="end" fill="gray">{value:.3g}</text>')
    parts.append(f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 6}" text-anchor="end" fill="gray">{steps} runs</text>')
    axes = f'<path d="M{_MARGIN},4 V{_HEIGHT - 20} H{_WIDTH}" fill="none" stroke="gray"/>'
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{axes}{"".join(parts)}</svg>'


class _Parser(argparse.ArgumentParser):
    """Mistakes in a magic's line are a ValueError of the cell, not the end of the kernel."""

    def error(self, message: str) -> Any:
        raise ValueError(f"%%tf: {message}")


def _parser() -> _Parser:
    parser = _Parser(prog="%%tf", description="Run a cell and say how long its runs took.", add_help=False)
    parser.add_argument(
        "--plot", metavar="NAME", nargs="+", default=[], help="tensors whose values to draw when fetched"
    )
    return parser


def tf_magic(shell: Any, line: str, cell: str) -> None:
    """`%%tf --plot loss`: run the cell, draw what `loss` is each time it is fetched, and say how long runs took."""
    from IPython.display import display  # only a shell of IPython calls this

    names = _parser().parse_args(shlex.split(line)).plot
    for name in names:
        if not isinstance(shell.user_ns.get(name), Tensor):
            raise ValueError(f"%%tf --plot {name}: there is no tensor of this name; make it in a cell before this one")
    watch = Watch({name: shell.user_ns[name] for name in names})
    handle = display({"text/html": "", "text/plain": ""}, raw=True, display_id=True) if names else None

    def draw() -> None:
        if handle is not None:
            last = ", ".join(f"{name} {values[-1]:.4g}" for name, values in watch.curves.items() if values)
            handle.update({"text/html": curves_svg(watch.curves), "text/plain": last}, raw=True)

    before, begin = len(get_default_graph().get_operations()), time.perf_counter()
    with watching(watch, draw):
        shell.run_cell(cell)
    draw()
    made = len(get_default_graph().get_operations()) - before
    print(
        f"{time.perf_counter() - begin:.2f} s; {watch.runs} runs took {watch.seconds:.2f} s"
        + (f", {1e3 * watch.seconds / watch.runs:.2f} ms each" if watch.runs else "")
        + (f"; {made} ops added to the graph" if made > 0 else "")
    )


def show_error(shell: Any, kind: type, error: BaseException, frames: Any, tb_offset: int | None = None) -> list[str]:
    """Errors with frames of ours as `tracebacks.py` shows them; others as IPython does."""
    while frames is not None and "IPython" in frames.tb_frame.f_code.co_filename:
        frames = frames.tb_next
    lines = tracebacks.lines(error, frames)
    if not any(tracebacks.FOLDED in line for line in lines):
        shell.showtraceback((kind, error, frames), tb_offset=0)
        return []
    shell._showtraceback(kind, error, lines)
    return lines


def load(shell: Any) -> None:
    """What `%load_ext everflow` does."""
    displays.register(shell)
    shell.register_magic_function(lambda line, cell: tf_magic(shell, line, cell), "cell", "tf")
    shell.set_custom_exc((Exception,), show_error)
