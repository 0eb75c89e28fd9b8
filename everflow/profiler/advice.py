"""Checkers that look through a profile for what might be done better."""

from __future__ import annotations

from everflow.profiler.options import ProfileOptionBuilder
from everflow.profiler.report import duration
from everflow.profiler.views import CodeView, OpView


def _on_accelerator(model):
    return [node for node in model.nodes.values() if "gpu" in node.device]


def accelerator_utilization(model):
    """How long accelerators wait for the host."""
    reports = []
    for device in sorted({node.device for node in _on_accelerator(model)}):
        nodes = [node for node in _on_accelerator(model) if node.device == device]
        spans = [span for node in nodes for times in node.times.values() for span in times]
        busy = sum(micros for _, micros in spans)
        whole = max(start + micros for start, micros in spans) - min(start for start, _ in spans)
        if whole and busy / whole < 0.5:
            reports.append(f"device: {device} low utilization: {busy / whole:.2f}")
    return reports


def operations(model):
    """Layouts that accelerators are slow with."""
    for node in _on_accelerator(model):
        if node.op in ("Conv2D", "FusedBatchNorm") and node.data_format == "NHWC":
            return ["Found operation using NHWC data_format on GPU. Maybe NCHW is faster."]
    return []


def expensive_operations(model):
    """The op types, and the lines of code, that took longest."""
    least = ProfileOptionBuilder.time_and_memory(min_micros=0, min_bytes=0)
    options = ProfileOptionBuilder(least).with_accounted_types([".*"]).build()
    if not model.steps:
        return []
    by_type = OpView(model, options)
    whole = by_type.root.total.exec_micros or 1
    top = [
        f"top {i + 1} operation type: {entry.name}, cpu: {duration(entry.own.cpu_exec_micros)}, "
        f"accelerator: {duration(entry.own.accelerator_exec_micros)}, total: {duration(entry.own.exec_micros)} "
        f"({100.0 * entry.own.exec_micros / whole:.2f}%)"
        for i, entry in enumerate(by_type.rows[:3])
    ]
    lines, entry = [], CodeView(model, options).root
    while entry.shown and len(lines) < 3:
        entry = entry.shown[0]
        lines.append(
            f"{entry.name}, cpu: {duration(entry.total.cpu_exec_micros)}, total: {duration(entry.total.exec_micros)}"
        )
    return ["\n".join(top), "\n".join(lines)]


CHECKERS = {
    "AcceleratorUtilizationChecker": accelerator_utilization,
    "OperationChecker": operations,
    "ExpensiveOperationChecker": expensive_operations,
}


def advice_text(advice):
    """The reports below the names of their checkers."""
    return "".join(
        f"\n{name}:\n" + "".join(f"{text}\n" for text in checker.reports) for name, checker in advice.checkers.items()
    )
