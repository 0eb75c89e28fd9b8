"""Small programs of well-known kinds, to time: `PROGRAMS` has them by name."""

from benchmarks.programs import agents, decoders, images, samplers, tables, texts  # noqa: F401  noted as they are loaded
from benchmarks.programs.registry import PROGRAMS  # noqa: F401
