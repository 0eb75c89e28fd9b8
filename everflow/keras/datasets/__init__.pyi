# Made by `make stubs`.

from everflow.keras.datasets import boston_housing as boston_housing
from everflow.keras.datasets import cifar10 as cifar10
from everflow.keras.datasets import cifar100 as cifar100
from everflow.keras.datasets import fashion_mnist as fashion_mnist
from everflow.keras.datasets import imdb as imdb
from everflow.keras.datasets import mnist as mnist
from everflow.keras.datasets import reuters as reuters
