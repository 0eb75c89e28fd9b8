# Made by `make stubs`.

from everflow import FIFOQueue as FIFOQueue
from everflow import PaddingFIFOQueue as PaddingFIFOQueue
from everflow import PriorityQueue as PriorityQueue
from everflow import QueueBase as QueueBase
from everflow import RandomShuffleQueue as RandomShuffleQueue
