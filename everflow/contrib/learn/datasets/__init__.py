"""tf.contrib.learn.datasets: MNIST, and data sets in CSV files."""

from everflow.datasets import csv_files as base
from everflow.datasets import mnist
