"""Small programs of well-known kinds, to time: `PROGRAMS` has them by name, `STREAMS` those about memory."""

# ruff: noqa: F401  a file's programs are noted when it is loaded
from benchmarks.programs import agents, basics, decoders, images, samplers, sequences, tables, texts
from benchmarks.programs.registry import PROGRAMS
from benchmarks.programs.streams import PASSES, SIZE, STREAMS
