# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A cost sheet as text."""

import model
import predict

SKIPPED = ("instructions", "index integers")


def number(value):
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


def mix_of(counts):
    return ", ".join(f"{unit} {number(count)}" for unit, count in sorted(counts.items(), key=lambda each: -each[1])
                     if unit not in SKIPPED)


def limiter(sheet):
    """The busiest unit, and how busy the others are beside it."""
    busiest = max(sheet.clocks.values()) or 1
    shares = {unit: clocks / busiest for unit, clocks in sheet.clocks.items() if clocks}
    ordered = sorted(shares, key=lambda unit: -shares[unit])
    return ", ".join(f"{unit} {shares[unit]:.2f}" for unit in ordered)


def complaint(miss):
    words = "at least" if miss.bound in model.AT_LEAST else "at most"
    return f"{miss.bound} {number(miss.figure)}, expected {words} {number(miss.limit)}"


def line(sheet):
    """All of it in one line, for tables."""
    per_element = sheet.per_element
    element = f"{number(per_element['instructions'])} instructions and {number(per_element['index integers'])} index integers per element" \
        if per_element and sheet.kind != "contraction" else f"{sheet.main.count} instructions in the main loop"
    return (f"{sheet.registers} registers, {sheet.spills} spilled, {sheet.shared} shared, {sheet.warps} warps, "
            f"{number(sheet.in_flight)} bytes in flight, {element}")


def text(kernel, sheet):
    lines = [f"{sheet.name}: {sheet.kind} kernel on {sheet.chip}",
             f"  launch     {sheet.blocks} blocks of {sheet.threads} threads; an SM holds {sheet.warps} warps",
             f"  resources  {sheet.registers} registers, {sheet.spills} bytes spilled, {sheet.shared} bytes of shared memory",
             f"  in flight  {number(sheet.in_flight)} bytes per SM"]
    if kernel.work:
        lines.insert(1, f"  work       {kernel.work[0]} bytes and {kernel.work[1]} scalar operations, as its class says")
    if sheet.kind == "contraction":
        lines.append(f"  main loop  {sheet.main.count} instructions: {mix_of(sheet.main.units)}")
    elif sheet.per_element:
        lines.append(f"  element    {number(sheet.per_element['instructions'])} instructions: {mix_of(sheet.per_element)}; "
                     f"{number(sheet.per_element['index integers'])} of the integers for indices")
    lines.append(f"  busy       {limiter(sheet)}")
    lines += [f"  MISSED     {complaint(miss)}" for miss in model.misses(kernel, sheet)]
    return "\n".join(lines)


NAMES = {"waits": "waiting warps", "l2": "traffic of L2", "lines": "lines of L1", "mma": "mma.sync"}


def time(work, timing):
    """The predicted time, and what it consists of, which overlaps."""
    parts = ", ".join(f"{NAMES.get(name, name)} {seconds * 1e6:.1f}" for name, seconds in
                      predict.parts(work, timing).items())
    return f"time       {predict.seconds(work, timing) * 1e6:.1f} us predicted: launch {timing.launch * 1e6:.1f}, {parts}"
