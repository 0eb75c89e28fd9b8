"""tf.contrib.learn.datasets: irises, MNIST, and data sets in CSV files."""

from everflow.datasets import csv_files, mnist
from everflow.datasets import synthetic as synthetic
from everflow.datasets.iris import load_iris
from everflow.datasets.synthetic import SYNTHETIC, make_dataset  # noqa: F401  they are part of it

base = csv_files
DATASETS = {"iris": load_iris, "mnist": mnist.load_mnist}


def load_dataset(name, size="small", test_with_fake_data=False):
    """A data set by name: "iris" or "mnist"."""
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name]()
