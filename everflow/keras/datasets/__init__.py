"""tf.keras.datasets: small datasets that are downloaded once and kept in ~/.keras/datasets."""

from __future__ import annotations

from everflow.keras.datasets import boston_housing, cifar10, cifar100, fashion_mnist, imdb, mnist, reuters
