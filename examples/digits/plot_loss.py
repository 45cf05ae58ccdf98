#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Draws the loss of each training step, and its running mean, as an SVG file with a logarithmic axis."""

import argparse
import math

import numpy as np

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 40, 48
SMOOTH = 25  # steps of the running mean


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


def polyline(xs, ys, style):
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys))
    return f'<polyline points="{points}" fill="none" {style}/>'


def text(x, y, content, anchor="middle"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{content}</text>'


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
        text((LEFT + right) / 2, HEIGHT - 10, "step"),
    ]
    for exponent in range(low, high + 1):
        y = y_of(10.0**exponent)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, y + 4, f"{10.0**exponent:g}", "end"))
    for step in np.linspace(0, len(losses), 5):
        parts.append(text(x_of(step), bottom + 18, f"{step:.0f}"))
    parts.append(polyline(x_of(steps), y_of(losses), 'stroke="#9ecae1" stroke-width="0.8"'))
    parts.append(polyline(x_of(steps), y_of(running_mean(losses, SMOOTH)), 'stroke="#08519c" stroke-width="2"'))
    parts.append("</svg>\n")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("losses", help="a .npy file with one loss per step")
    parser.add_argument("picture", help="the SVG file to write")
    parser.add_argument("--title", default="training loss")
    options = parser.parse_args()
    losses = np.load(options.losses).astype(np.float64).reshape(-1)
    if not len(losses) or not np.isfinite(losses).all():
        parser.error(f"{options.losses}: expected finite losses, found none or others")
    with open(options.picture, "w") as file:
        file.write(draw(losses, options.title))


if __name__ == "__main__":
    main()
