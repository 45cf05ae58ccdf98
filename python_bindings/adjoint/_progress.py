# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""How far training is: its losses, a bar and a picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class NotFinite(Exception):
    """Stops the program at a loss."""


class Losses:
    """Receives the losses of a part, each when the program sends it. Stops the program when the losses of so many steps
    in a row are not finite, or never."""

    def __init__(self, limit: int | None):
        self.limit, self.values, self.bad, self.has_bad = limit, list[float](), 0, False

    def __call__(self, value: Any) -> None:
        loss = float(value)
        self.values.append(loss)
        if math.isfinite(loss):
            self.bad = 0
            return
        self.bad, self.has_bad = self.bad + 1, True
        if self.bad == self.limit:
            raise NotFinite

    def take(self) -> list[float]:
        """The losses of the part that has ended."""
        taken, self.values = self.values, []
        return taken


class Bar:
    """A progress bar of tqdm, where it is installed."""

    def __init__(self, total: int, initial: int, shows: bool):
        self._bar = None
        if shows:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, initial=initial, unit="step")

    def update(self, count: int, loss: float) -> None:
        if self._bar is not None:
            self._bar.set_postfix(loss=f"{loss:.4g}")
            self._bar.update(count)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def loss_curve(losses: list[float], width: int = 640, height: int = 320) -> str:
    """An SVG picture of losses by step."""
    margin, finite = 48, [loss for loss in losses if np.isfinite(loss)]
    is_logarithmic = bool(finite) and min(finite) > 0
    scaled = [np.log10(loss) if is_logarithmic else loss for loss in finite] or [0.0]
    low, high = min(scaled), max(scaled)
    spread = (high - low) or 1.0

    def point(index: int, loss: float) -> str:
        value = np.log10(loss) if is_logarithmic else loss
        x = margin + (width - 2 * margin) * index / max(len(losses) - 1, 1)
        return f"{x:.1f},{margin + (height - 2 * margin) * (high - value) / spread:.1f}"

    line = " ".join(point(index, loss) for index, loss in enumerate(losses) if np.isfinite(loss))
    ends = (10**high, 10**low) if is_logarithmic else (high, low)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12">'
        f"<title>loss by step</title>"
        f'<path d="M{margin},{margin} V{height - margin} H{width - margin}" fill="none" stroke="#888"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f6fb4" stroke-width="1.5"/>'
        f'<text x="{margin - 6}" y="{margin + 4}" text-anchor="end">{ends[0]:.3g}</text>'
        f'<text x="{margin - 6}" y="{height - margin + 4}" text-anchor="end">{ends[1]:.3g}</text>'
        f'<text x="{width - margin}" y="{height - margin + 18}" text-anchor="end">step {len(losses)}</text></svg>'
    )
