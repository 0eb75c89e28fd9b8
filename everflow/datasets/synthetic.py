"""Points on circles and spirals, as tf.contrib.learn.datasets makes them."""

from __future__ import annotations

import numpy as np

from everflow.datasets.csv_files import Dataset


def _shuffled(points, targets, noise, seed):
    """A Dataset of the points in any order, off their places by chance."""
    random = np.random.RandomState(seed) if seed is not None else np.random
    order = random.permutation(len(points))
    if noise is not None:
        points = points + random.normal(scale=noise, size=points.shape)
    return Dataset(data=points[order], target=targets[order])


def circles(n_samples=100, noise=None, seed=None, factor=0.8, n_classes=2, *args, **kwargs):
    """Circles in each other, each of another class; `factor` says how much smaller the next one is."""
    count = n_samples // n_classes
    angles = np.linspace(0, 2 * np.pi, count)
    points = np.concatenate(
        [np.stack([np.cos(angles), np.sin(angles)], axis=1) * factor**number for number in range(n_classes)]
    )
    return _shuffled(points, np.repeat(np.arange(n_classes, dtype=np.int32), count), noise, seed)


_RADII = {
    "archimedes": lambda angles: angles,
    "bernoulli": lambda angles: np.exp(0.1 * angles),
    "fermat": np.sqrt,
}


def spirals(n_samples=100, noise=None, seed=None, mode="archimedes", n_loops=2, *args, **kwargs):
    """Two spirals in each other, each of another class."""
    if mode not in _RADII:
        raise ValueError(f"There is no mode {mode!r} of spirals; there are {sorted(_RADII)}")
    count = n_samples // 2
    angles = np.linspace(0, n_loops * 2 * np.pi, count)
    arms = []
    for turn in (0.0, np.pi):
        arm = np.stack([_RADII[mode](angles) * f(angles + turn) for f in (np.cos, np.sin)], axis=1)
        arms.append(arm / np.max(np.abs(arm), axis=0))
    return _shuffled(np.concatenate(arms), np.repeat(np.arange(2, dtype=np.int32), count), noise, seed)


SYNTHETIC = {"circles": circles, "spirals": spirals}


def make_dataset(name, n_samples=100, noise=None, seed=42, *args, **kwargs):
    """A data set by name: "circles" or "spirals"."""
    if name not in SYNTHETIC:
        raise ValueError(f"There is no synthetic data set {name!r}; there are {sorted(SYNTHETIC)}")
    return SYNTHETIC[name](*args, n_samples=n_samples, noise=noise, seed=seed, **kwargs)
