#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Draws the loss of each training step, and its running mean, as an SVG file with a logarithmic axis."""

import argparse
import html
import math

import numpy as np

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 72, 24, 40, 48
SMOOTH = 25  # steps of the running mean
EACH = 'stroke="#6baed6" stroke-width="0.8"'
MEAN = 'stroke="#08306b" stroke-width="2"'


def running_mean(values, length):
    """The mean of the last `length` values, of fewer at the start."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - length, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


def decades(values):
    """The powers of ten that enclose the values."""
    low, high = math.floor(math.log10(values.min())), math.ceil(math.log10(values.max()))
    return low, max(high, low + 1)


def ticks(count):
    """Round numbers of steps, at most seven of them."""
    unit = 10 ** math.floor(math.log10(count))
    gap = next(gap for gap in (unit // 5, unit // 2, unit, 2 * unit) if gap and count <= 6 * gap)
    return range(0, count + 1, gap)


def polyline(xs, ys, style):
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys))
    return f'<polyline points="{points}" fill="none" {style}/>'


def text(x, y, content, anchor="middle"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{html.escape(content)}</text>'


def legend(right, entries):
    """One line per curve, in the upper right corner: its stroke and its name."""
    for index, (style, name) in enumerate(entries):
        y = TOP + 16 + 18 * index
        yield f'<line x1="{right - 164}" y1="{y}" x2="{right - 136}" y2="{y}" {style}/>'
        yield text(right - 128, y + 4, name, "start")


def frame(right, bottom):
    """The axes and what they say."""
    yield f'<polyline points="{LEFT},{TOP} {LEFT},{bottom} {right},{bottom}" fill="none" stroke="#444"/>'
    yield text((LEFT + right) / 2, HEIGHT - 10, "training step")
    middle = (TOP + bottom) / 2
    yield f'<text transform="translate(18 {middle:.0f}) rotate(-90)" text-anchor="middle">loss (cross entropy)</text>'


def draw(losses, title):
    losses = np.maximum(losses, 1e-12)  # a loss of zero has no logarithm
    low, high = decades(losses)
    steps = np.arange(1, len(losses) + 1)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x_of(step):
        return LEFT + (right - LEFT) * step / len(losses)

    def y_of(loss):
        return bottom - (bottom - TOP) * (np.log10(loss) - low) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(WIDTH / 2, 24, title),
    ]
    for exponent in range(low, high + 1):
        y = y_of(10.0**exponent)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, y + 4, f"{10.0**exponent:g}", "end"))
    for step in ticks(len(losses)):
        x = x_of(step)
        parts.append(f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 5}" stroke="#444"/>')
        parts.append(text(x, bottom + 18, str(step)))
    parts.append(polyline(x_of(steps), y_of(losses), EACH))
    parts.append(polyline(x_of(steps), y_of(running_mean(losses, SMOOTH)), MEAN))
    parts += [*frame(right, bottom), *legend(right, [(EACH, "each step"), (MEAN, f"mean of the last {SMOOTH}")])]
    parts.append("</svg>\n")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("losses", help="a .npy file with one loss per step")
    parser.add_argument("picture", help="the SVG file to write")
    parser.add_argument("--title", default="training loss")
    options = parser.parse_args()
    try:
        losses = np.load(options.losses).astype(np.float64).reshape(-1)
    except (OSError, ValueError, EOFError) as problem:
        parser.error(f"cannot read '{options.losses}': {getattr(problem, 'strerror', None) or problem}")
    if not len(losses) or not np.isfinite(losses).all():
        parser.error(f"{options.losses}: expected finite losses, found none or others")
    try:
        with open(options.picture, "w") as file:
            file.write(draw(losses, options.title))
    except OSError as problem:
        parser.error(f"cannot write '{options.picture}': {problem.strerror}")


if __name__ == "__main__":
    main()
