"""The bar that shows how far a loop has come."""

from __future__ import annotations

import os
import sys
import time

import numpy as np


class Progbar:
    """A bar on the terminal, with means of values and the time it takes.

    Args:
        target: How many steps there are; None if that isn't known.
        width: How wide the bar is.
        verbose: 0 for nothing, 1 for a bar, 2 for a line at the end.
        interval: The least seconds between two pictures.
        stateful_metrics: The names of values that are not averaged.
        unit_name: What a step is called.

    Example:
        >>> bar = tf.keras.utils.Progbar(3, verbose=0)
        >>> bar.update(3, [("loss", 0.5)])
    """

    def __init__(self, target, width=30, verbose=1, interval=0.05, stateful_metrics=None, unit_name="step"):
        self.target, self.width, self.verbose = target, width, verbose
        self.interval, self.unit_name = interval, unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        on_terminal = hasattr(sys.stdout, "isatty") and sys.stdout.isatty()
        in_shell = "ipykernel" in sys.modules or "posix" in sys.modules or "PYCHARM_HOSTED" in os.environ
        self._dynamic_display = on_terminal or in_shell
        self._total_width = self._seen_so_far = 0
        # {name: [sum of values, number of steps they stand for]}, in the order in which names came.
        self._values = {}
        self._start, self._last_update = time.time(), 0

    def update(self, current, values=None):
        """Show that `current` steps are done; `values` are (name, value) for the steps since the last call."""
        self._take(current, values or [])
        now = time.time()
        info = f" - {now - self._start:.0f}s"
        if self.verbose == 1:
            if now - self._last_update < self.interval and self.target is not None and current < self.target:
                return
            self._show_bar(current, now, info)
        elif self.verbose == 2 and self.target is not None and current >= self.target:
            digits = int(np.log10(self.target)) + 1 if self.target else 1
            info = f"{current:{digits}d}/{int(self.target)}" + info
            sys.stdout.write(info + self._means() + "\n")
            sys.stdout.flush()
        self._last_update = now

    def add(self, n, values=None):
        """Show that n more steps are done."""
        self.update(self._seen_so_far + n, values)

    def _take(self, current, values):
        for name, value in values:
            if name in self.stateful_metrics:
                # Such values are means already.
                self._values[name] = [value, 1]
                continue
            steps = current - self._seen_so_far
            entry = self._values.setdefault(name, [0, 0])
            entry[0] += value * steps
            entry[1] += steps
        self._seen_so_far = current

    def _show_bar(self, current, now, info):
        before = self._total_width
        sys.stdout.write("\b" * before + "\r" if self._dynamic_display else "\n")
        bar = self._bar(current)
        sys.stdout.write(bar)
        time_per_unit = (now - self._start) / current if current else 0
        if self.target is not None and current < self.target:
            info = " - ETA: " + _duration(time_per_unit * (self.target - current))
        elif time_per_unit >= 1 or time_per_unit == 0:
            info += f" {time_per_unit:.0f}s/{self.unit_name}"
        elif time_per_unit >= 1e-3:
            info += f" {time_per_unit * 1e3:.0f}ms/{self.unit_name}"
        else:
            info += f" {time_per_unit * 1e6:.0f}us/{self.unit_name}"
        info += self._means()
        self._total_width = len(bar) + len(info)
        # Blanks over what a longer line has left.
        info += " " * max(0, before - self._total_width)
        if self.target is None or current >= self.target:
            info += "\n" if self.target is not None else ""
        sys.stdout.write(info)
        sys.stdout.flush()

    def _bar(self, current):
        if self.target is None:
            return f"{current:7d}/Unknown"
        digits = int(np.log10(self.target)) + 1 if self.target else 1
        done = int(self.width * float(current) / self.target) if self.target else self.width
        arrow = ""
        if done > 0:
            arrow = "=" * (done - 1) + (">" if current < self.target else "=")
        return f"{current:{digits}d}/{int(self.target)} [{arrow}{'.' * (self.width - done)}]"

    def _means(self):
        text = ""
        for name, (total, steps) in self._values.items():
            mean = np.mean(total / max(1, steps))
            text += f" - {name}: {mean:.4f}" if abs(mean) > 1e-3 else f" - {name}: {mean:.4e}"
        return text


def _duration(seconds):
    if seconds > 3600:
        return f"{seconds // 3600:.0f}:{seconds % 3600 // 60:02.0f}:{seconds % 60:02.0f}"
    if seconds > 60:
        return f"{seconds // 60:.0f}:{seconds % 60:02.0f}"
    return f"{int(seconds)}s"
