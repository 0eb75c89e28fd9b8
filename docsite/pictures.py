"""The pictures of the documentation, drawn again by `python -m docsite.pictures`.

Curves come from the pages themselves: a page's code is run, and what it measured is drawn.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable

import numpy as np

import everflow as tf
from docsite import graph_picture, recording
from docsite.blocks import ROOT
from docsite.run_page import Runner

FOLDER = ROOT / "docs" / "assets" / "pictures"
Names = dict


def _curves(
    curves: dict[str, list[float]], xlabel: str = "step", ylabel: str = "loss", top: float | None = None
) -> str:
    import io

    import matplotlib

    matplotlib.use("agg")
    # Text stays text, and no date or random name gets in: the same curves make the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "everflow", "path.simplify": True})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for label, values in curves.items():
        axes.plot(values, label=label, linewidth=1.5)
    axes.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, top))
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1:
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return out.getvalue()


def _recording(_: Names) -> str:
    return recording.draw()


def _first_graph(_: Names) -> str:
    with tf.Graph().as_default() as graph:
        a, b = tf.constant(3.0), tf.constant(4.0)
        tf.sqrt(a * a + b * b)
    return graph_picture.draw(graph)


def _scopes(_: Names) -> str:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.name_scope("polar"):
            radius, angle = tf.norm(x, axis=1, name="radius"), tf.atan2(x[:, 1], x[:, 0], name="angle")
        with tf.name_scope("back"), tf.name_scope("to_x"):
            _ = radius * tf.cos(angle)
        for values in (radius, angle):
            with tf.name_scope("standardize"):
                mean, variance = tf.nn.moments(values, axes=[0])
                _ = (values - mean) / tf.sqrt(variance)
    return graph_picture.draw(graph, depth=1)


def _iris_loss(names: Names) -> str:
    return _curves({"loss": names["losses"]})


def _learning_rates(names: Names) -> str:
    return _curves(
        {f"rate {rate:g}": [min(v, 6.0) for v in values] for rate, values in names["curves"].items()}, top=6.0
    )


def _tensorboard_graph(names: Names) -> str:
    return graph_picture.draw(
        names["x"].graph, depth=1, only="pixels digits images hidden logits loss accuracy train".split()
    )


def _tensorboard_scalars(names: Names) -> str:
    return _curves({name: [value for _, value in points] for name, points in names["losses"].items()}, "tens of steps")


def _wrong_digits(names: Names) -> str:
    parts, side = [], 12
    for i, number in enumerate(names["wrong"][:6]):
        left = 10 + i * (8 * side + 24)
        for (row, column), grey in _pixels(names["test_x"][number, :, :, 0]):
            parts.append(
                f'<rect x="{left + column * side}" y="{10 + row * side}" width="{side}" height="{side}" fill="#{grey:02x}{grey:02x}{grey:02x}"/>'
            )
        label, guess = names["test_y"][number], names["guesses"][number]
        parts.append(f'<text x="{left}" y="{28 + 8 * side}" fill="#222">{label}, read as {guess}</text>')
    width = 10 + 6 * (8 * side + 24)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {40 + 8 * side}" width="{width}" '
        'font-family="sans-serif" font-size="13">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _attention(names: Names) -> str:
    source, written, weights, side = "12 October 1988", names["decode"](names["row"][0]), names["weights"], 22
    parts = []
    for (row, column), grey in _pixels(weights[: len(written), : len(source)]):
        place = f'x="{40 + column * side}" y="{30 + row * side}"'
        parts.append(f'<rect {place} width="{side}" height="{side}" stroke="#ddd" fill="#{grey:02x}{grey:02x}ff"/>')
    parts += [
        f'<text x="{51 + i * side}" y="20" text-anchor="middle">{letter}</text>' for i, letter in enumerate(source)
    ]
    parts += [
        f'<text x="24" y="{46 + i * side}" text-anchor="middle">{letter}</text>' for i, letter in enumerate(written)
    ]
    width, height = 50 + len(source) * side, 40 + len(written) * side
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="monospace" font-size="15" fill="#222">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _pixels(image: np.ndarray) -> list[tuple[tuple[int, int], int]]:
    """Places and grey levels, dark on light."""
    return [(place, 255 - int(value * 255)) for place, value in np.ndenumerate(image)]


# Picture, the page whose code makes what it shows, and what draws it.
PICTURES: list[tuple[str, str | None, Callable[[Names], str]]] = [
    ("recording.svg", None, _recording),
    ("first-graph.svg", None, _first_graph),
    ("scopes.svg", None, _scopes),
    ("iris-loss.svg", "course/variables-and-training.md", _iris_loss),
    ("learning-rates.svg", "course/losses-and-learning-rates.md", _learning_rates),
    ("wrong-digits.svg", "course/layers-and-convnets.md", _wrong_digits),
    ("attention.svg", "course/seq2seq-and-attention.md", _attention),
    ("tensorboard-graph.svg", "course/tensorboard.md", _tensorboard_graph),
    ("tensorboard-scalars.svg", "course/tensorboard.md", _tensorboard_scalars),
]


def _names_of(page: str) -> Names:
    """What the names of a page stand for at its end."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            runner = Runner(ROOT / "docs" / page)
            runner.run()
        finally:
            os.chdir(here)
            tf.reset_default_graph()
    return runner.names


def main(only: list[str] | None = None) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    names: dict[str | None, Names] = {None: {}}
    for file, page, drawn in PICTURES:
        if only and file not in only:
            continue
        if page not in names:
            names[page] = _names_of(page)
        text = "\n".join(line.rstrip() for line in drawn(names[page]).splitlines()) + "\n"
        pathlib.Path(FOLDER / file).write_text(text)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
