# Made by `make stubs`.
from everflow import *
