# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Bar charts, scatter plots, histograms and coloured tables as SVG text, which needs no other file."""

import html
import math

COLORS = ["#3b6ea8", "#d9822b", "#4f9d5d", "#a04a8b", "#7a7a7a", "#b5483a"]
LEFT, TOP, RIGHT, BOTTOM = 80, 78, 20, 64  # margins of the plot, in pixels


class Canvas:
    """A plot area with a title, a subtitle that says how to read it, axes with labels, and a legend."""

    def __init__(self, title, note, width=760, height=380):
        self.width, self.height, self.lines = width, height, []
        self.text(LEFT, 22, title, size=16, weight="bold", anchor="start")
        self.text(LEFT, 42, note, anchor="start", color="#555")
        self.box = (LEFT, TOP, width - RIGHT, height - BOTTOM)

    def text(self, x, y, words, size=12, anchor="middle", color="#222", weight="normal", turn=0):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.lines.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" '
                          f'font-weight="{weight}"{turned}>{html.escape(str(words))}</text>')

    def rect(self, x, y, width, height, color):
        self.lines.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" '
                          f'fill="{color}"/>')

    def line(self, x1, y1, x2, y2, color="#ddd"):
        self.lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"/>')

    def axes(self, x_label, y_label):
        x0, y0, x1, y1 = self.box
        self.line(x0, y1, x1, y1, "#222")
        self.line(x0, y0, x0, y1, "#222")
        self.text((x0 + x1) / 2, self.height - 12, x_label)
        self.text(18, (y0 + y1) / 2, y_label, turn=-90)

    def legend(self, names):
        x = LEFT
        for number, name in enumerate(names):
            self.rect(x, TOP - 25, 12, 12, COLORS[number % len(COLORS)])
            self.text(x + 17, TOP - 15, name, anchor="start")
            x += 32 + 7 * len(name)

    def __str__(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" font-family="sans-serif">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(self.lines) + "\n</svg>\n")


class Log:
    """A logarithmic axis from pixel `low` to pixel `high`, from one power of ten to another."""

    def __init__(self, values, low, high):
        positive = [v for v in values if v > 0 and math.isfinite(v)] or [1.0]
        self.first = math.floor(math.log10(min(positive)) - 0.2)
        self.last = max(math.ceil(math.log10(max(positive))), self.first + 1)
        self.low, self.high = low, high

    def __call__(self, value):
        if value <= 0:
            return self.low
        part = (math.log10(value) - self.first) / (self.last - self.first)
        return self.low + min(max(part, 0), 1) * (self.high - self.low)

    def ticks(self):
        step = max(1, (self.last - self.first) // 8)
        return [(10.0**e, f"1e{e}") for e in range(self.first, self.last + 1, step)]


class Linear:
    def __init__(self, values, low, high, from_zero=False):
        self.first, self.last = min([*values, 0] if from_zero else values), max(values)
        if self.first == self.last:
            self.last = self.first + 1
        self.low, self.high = low, high

    def __call__(self, value):
        return self.low + (value - self.first) / (self.last - self.first) * (self.high - self.low)

    def ticks(self):
        raw = (self.last - self.first) / 5
        step = next(m * 10.0 ** math.floor(math.log10(raw)) for m in (1, 2, 5, 10)
                    if m * 10.0 ** math.floor(math.log10(raw)) >= raw)
        first = math.ceil(self.first / step)
        return [(i * step, f"{i * step:.3g}") for i in range(first, math.floor(self.last / step + 1e-9) + 1)]


def grid(canvas, axis):
    x0, _, x1, _ = canvas.box
    for value, words in axis.ticks():
        canvas.line(x0, axis(value), x1, axis(value))
        canvas.text(x0 - 6, axis(value) + 4, words, size=11, anchor="end")


def bars(title, note, groups, series, y_label, x_label=""):
    """Grouped bars with a logarithmic axis: groups are (label, a value for each series); an exact 0 is written."""
    canvas = Canvas(title, note)
    x0, y0, x1, y1 = canvas.box
    axis = Log([v for _, values in groups for v in values if v is not None], y1, y0 + 14)
    grid(canvas, axis)
    canvas.legend(series)
    wide = (x1 - x0) / max(len(groups), 1)
    each = min(wide * 0.8 / max(len(series), 1), 60)
    for i, (label, values) in enumerate(groups):
        start = x0 + i * wide + (wide - each * len(values)) / 2
        for j, value in enumerate(values):
            if value is None:
                continue
            top = axis(value)
            canvas.rect(start + j * each + 1, top, each - 2, y1 - top, COLORS[j % len(COLORS)])
            if each > 20 or value == 0:
                canvas.text(start + (j + 0.5) * each, top - 4, f"{value:.2g}", size=9)
        canvas.text(x0 + (i + 0.5) * wide, y1 + 17, label, size=11 if len(label) * 6.5 < wide else 8.5)
    canvas.axes(x_label, y_label)
    return str(canvas)


def scatter(title, note, points, x_label, y_label):
    """Points by the name of their series: {name: (xs, ys)}."""
    canvas = Canvas(title, note)
    x0, y0, x1, y1 = canvas.box
    across = Linear([x for xs, _ in points.values() for x in xs], x0, x1)
    up = Linear([y for _, ys in points.values() for y in ys], y1, y0, from_zero=True)
    grid(canvas, up)
    for value, words in across.ticks():
        canvas.text(across(value), y1 + 17, words, size=11)
    canvas.legend(list(points))
    for number, (xs, ys) in enumerate(points.values()):
        color = COLORS[number % len(COLORS)]
        canvas.lines += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="2" fill="{color}" fill-opacity="0.6"/>'
                         for x, y in zip(xs, ys)]
    canvas.axes(x_label, y_label)
    return str(canvas)


def cells(title, note, texts, colors, x_label, y_label):
    """A table of words with coloured cells: row i, column j of `texts` has y = i + 1 and x = j + 1."""
    canvas = Canvas(title, note)
    x0, y0, x1, y1 = canvas.box
    wide, high = (x1 - x0) / len(texts[0]), (y1 - y0) / len(texts)
    for i, row in enumerate(texts):
        for j, words in enumerate(row):
            x, y = x0 + j * wide, y1 - (i + 1) * high
            canvas.rect(x + 1, y + 1, wide - 2, high - 2, colors[i][j])
            canvas.text(x + wide / 2, y + high / 2 + 4, words)
        canvas.text(x0 - 12, y1 - (i + 0.5) * high + 4, i + 1)
    for j in range(len(texts[0])):
        canvas.text(x0 + (j + 0.5) * wide, y1 + 17, j + 1)
    canvas.axes(x_label, y_label)
    return str(canvas)


def histogram(title, note, counts, x_label, y_label="elements"):
    """Counts of elements per power of two of the value: {name: {exponent or None for zero: count}}."""
    canvas = Canvas(title, note)
    x0, y0, x1, y1 = canvas.box
    exponents = sorted({e for table in counts.values() for e in table if e is not None})
    keys = [None, *range(exponents[0], exponents[-1] + 1)] if exponents else [None]
    axis = Log([c for table in counts.values() for c in table.values()], y1, y0 + 14)
    grid(canvas, axis)
    canvas.legend(list(counts))
    wide = (x1 - x0) / len(keys)
    each = wide * 0.85 / len(counts)
    for i, key in enumerate(keys):
        for j, table in enumerate(counts.values()):
            if table.get(key):
                top = axis(table[key])
                canvas.rect(x0 + i * wide + j * each + wide * 0.07, top, each, y1 - top, COLORS[j % len(COLORS)])
        if len(keys) < 24 or key is None or key % 4 == 0:
            canvas.text(x0 + (i + 0.5) * wide, y1 + 17, "0" if key is None else f"2^{key}", size=10)
    canvas.axes(x_label, y_label)
    return str(canvas)


def powers(values):
    """How many values are 0 (None), and how many are in [2^e, 2^(e+1)), by e."""
    import numpy as np

    values = np.abs(np.asarray(values, np.float64)).ravel()
    exponents, counts = np.unique(np.frexp(values[values > 0])[1] - 1, return_counts=True)
    table = {int(e): int(c) for e, c in zip(exponents, counts)}
    zeros = int((values == 0).sum())
    return {None: zeros, **table} if zeros else table
