"""tf.keras.datasets: small datasets that are downloaded once and kept in ~/.keras/datasets."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.keras.datasets import boston_housing, cifar10, cifar100, fashion_mnist, imdb, mnist, reuters
