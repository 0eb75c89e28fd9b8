# Made by `make stubs`.

from everflow.keras.preprocessing import image as image
from everflow.keras.preprocessing import sequence as sequence
from everflow.keras.preprocessing import text as text
