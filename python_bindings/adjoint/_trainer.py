# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Training loops that are one program."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import json
import os
import pathlib
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from . import tree
from ._checks import is_number, is_whole
from ._derivatives import value_and_grad
from ._errors import ArgumentTypeError, OptionError, ProgramError, make_file_error
from ._files import whole_file
from ._jit import Jitted, jit
from ._loops import fori_loop
from ._signature import DTYPES
from ._streams import feed, receive
from ._traced_program import TracedProgram
from ._types import Spec, element_of
from .optim import LossScale, clip_by_global_norm


class _Batches:
    """The batches of an iterable for the feeds of a program, one for each leaf, which ask in any order."""

    def __init__(self, data: Iterable[Any], skipped: int):
        self._source = itertools.islice(iter(data), skipped, None)
        self.ended = False
        first = next(self._source, None)
        if first is None:
            raise ArgumentTypeError(f"expected more than {skipped} batches, but the data ended")
        leaves, self.form = tree.flatten(first)
        self.specs = [Spec(np.shape(leaf), element_of(np.asarray(leaf).dtype)) for leaf in leaves]
        self._waiting: list[collections.deque[np.ndarray]] = [collections.deque([np.asarray(leaf)]) for leaf in leaves]
        self.names = [f"batch.{name}" if name else "batch" for name in tree.names(self.form)]

    def feeds(self) -> dict[str, Iterator[np.ndarray]]:
        return {name: self._of(number) for number, name in enumerate(self.names)}

    def _of(self, number: int) -> Iterator[np.ndarray]:
        while True:
            if not self._waiting[number]:
                batch = next(self._source, None)
                if batch is None:
                    self.ended = True
                    return
                leaves, form = tree.flatten(batch)
                if form != self.form:
                    raise ArgumentTypeError("expected batches of one structure")
                for queue, leaf in zip(self._waiting, leaves):
                    queue.append(np.asarray(leaf))
            yield self._waiting[number].popleft()


@dataclasses.dataclass
class Trained:
    """What training has reached."""

    model: Any
    state: Any
    step: int
    losses: list[float]

    def loss_curve(self) -> str:
        """The losses as an SVG picture, on a logarithmic axis if all are positive."""
        return loss_curve(self.losses)

    def _repr_svg_(self) -> str:
        return self.loss_curve()


class Trainer:
    """Minimises loss(model, batch), a float of rank 0. The loop is part of the program: it reads batches by feeds and
    sends losses to the host, and Python runs between parts of `steps_per_call` steps.

    With a `folder` a checkpoint is written there after each part, whole or not at all; `fit` goes on from it, to the
    same bits as without a stop, if the data are the same. Ctrl-C keeps the last part that is done. `options` are those
    of adjoint.jit.
    """

    def __init__(
        self,
        loss: Callable[[Any, Any], Any],
        optimizer: Any,
        *,
        clip_norm: float | None = None,
        loss_scale: LossScale | None = None,
        folder: str | os.PathLike[str] | None = None,
        steps_per_call: int = 100,
        progress: bool = True,
        **options: Any,
    ):
        if not is_whole(steps_per_call, 1):
            raise OptionError(f"expected steps_per_call as an int of at least 1, got {steps_per_call!r}")
        if clip_norm is not None and not (is_number(clip_norm, 0, np.inf) and clip_norm > 0):
            raise OptionError(f"expected clip_norm above 0, or None, got {clip_norm!r}")
        if isinstance(optimizer, type) or not callable(getattr(optimizer, "update", None)):
            raise OptionError(f"expected an optimizer such as adjoint.optim.Adam(1e-3), got {optimizer!r}")
        self.loss, self.optimizer, self.clip_norm, self.loss_scale = loss, optimizer, clip_norm, loss_scale
        self.folder = None if folder is None else pathlib.Path(folder)
        self.steps_per_call, self.progress, self.options = steps_per_call, progress, options

    def fit(self, model: Any, data: Iterable[Any], steps: int) -> Trained:
        """Trains up to step number `steps`, from a checkpoint if there is one. Each step takes one batch of the data,
        all of one shape."""
        if not is_whole(steps, 0):
            raise OptionError(f"expected steps as an int of at least 0, got {steps!r}")
        leaves, form = tree.flatten((model, self.optimizer.init(model), self.loss_scale and self.loss_scale.init()))
        reached = self._restore(leaves) or (leaves, 0, [])
        leaves, step, losses = reached
        model, state, scale = tree.unflatten(form, leaves)
        if step >= steps:
            return Trained(model, state, step, losses)
        batches = _Batches(data, step)
        program = self._program(batches)
        # What is donated is overwritten: the caller keeps the model that it gave.
        model, state, scale = tree.map(np.array, (model, state, scale))
        feeds, bar = batches.feeds(), _bar(steps, step, self.progress)
        try:
            while step < steps:
                count = min(self.steps_per_call, steps - step)
                done = tree.map(np.array, (model, state, scale))
                received: list[float] = []
                try:
                    model, state, scale = program(
                        model,
                        state,
                        scale,
                        np.int64(count),
                        feeds=feeds,
                        receives={"loss": lambda value: received.append(float(value))},
                    )
                except KeyboardInterrupt:
                    model, state, scale = done
                    warnings.warn(f"interrupted: the model is that of step {step}", RuntimeWarning, stacklevel=2)
                    break
                except ProgramError:
                    if not batches.ended:
                        raise
                    model, state, scale = done
                    warnings.warn(
                        f"the data ended after step {step}: the steps of the part after it are left out; a part has "
                        f"steps_per_call={self.steps_per_call} steps",
                        RuntimeWarning,
                        stacklevel=2,
                    )
                    break
                step += count
                losses += received
                self._save((model, state, scale), step, losses)
                bar.update(count, losses[-1])
        finally:
            bar.close()
        return Trained(model, state, step, losses)

    def _program(self, batches: _Batches) -> Jitted:
        made: Jitted = jit(
            lambda model, state, scale, count: self._part(model, state, scale, count, batches),
            donate_argnames=("model", "state", "scale"),
            **self.options,
        )
        return made

    def trace(self, model: Any, batch: Any) -> TracedProgram:
        """The program of the loop, for batches of the types of this one: to print, to lower and to save."""
        state, scale = self.optimizer.init(model), self.loss_scale and self.loss_scale.init()
        return self._program(_Batches([batch], 0)).trace(model, state, scale, np.int64(1))

    def _part(self, model: Any, state: Any, scale: Any, count: Any, batches: _Batches) -> Any:
        """`count` steps."""

        def loss(model: Any, batch: Any, scale: Any) -> Any:
            value = self.loss(model, batch)
            return (value if scale is None else self.loss_scale.scale(value, scale)), value  # type: ignore[union-attr]

        def one(_: Any, carried: Any) -> Any:
            model, state, scale = carried
            batch = tree.unflatten(batches.form, [feed(*each) for each in zip(batches.names, batches.specs)])
            (_, value), gradients = value_and_grad(loss, has_aux=True)(model, batch, scale)
            receive("loss", value)
            if scale is not None:
                gradients = self.loss_scale.unscale(gradients, scale)  # type: ignore[union-attr]
            clipped = gradients if self.clip_norm is None else clip_by_global_norm(gradients, self.clip_norm)[0]
            changed = self.optimizer.update(model, clipped, state)
            if scale is not None:
                scaling: Any = self.loss_scale
                changed, scale = scaling.update(changed, (model, state), gradients, scale)
            return (*changed, scale)

        return fori_loop(0, count, one, (model, state, scale))

    # Checkpoints.

    def _path(self) -> pathlib.Path | None:
        return None if self.folder is None else self.folder / "checkpoint.npz"

    def _save(self, values: Any, step: int, losses: list[float]) -> None:
        path = self._path()
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise make_file_error(error, str(path.parent), "write") from error
        leaves = tree.leaves(values)
        # NumPy's files have no bf16: its bytes.
        arrays: dict[str, Any] = {
            f"leaf_{index}": np.asarray(leaf).reshape(-1).view(np.uint8) if np.asarray(leaf).dtype.kind == "V" else leaf
            for index, leaf in enumerate(leaves)
        }
        about = json.dumps({"step": step, "losses": [float(loss).hex() for loss in losses]})
        with whole_file(path) as file:
            np.savez(file, about=np.frombuffer(about.encode(), np.uint8), **arrays)

    def _restore(self, leaves: list[Any]) -> tuple[list[Any], int, list[float]] | None:
        """(leaves, step, losses) of the checkpoint, which has to fit the model."""
        path = self._path()
        if path is None or not path.exists():
            return None
        about, values = _read_checkpoint(path)
        if len(values) != len(leaves):
            raise OptionError(
                f"the checkpoint {path} has {len(values)} tensors, the model and its optimizer {len(leaves)}"
            )
        read = []
        for value, leaf in zip(values, leaves):
            dtype = DTYPES[element_of(leaf.dtype)]
            if value.dtype != dtype and value.size == dtype.itemsize * np.size(leaf):
                value = value.view(dtype).reshape(np.shape(leaf))
            if value.shape != np.shape(leaf) or value.dtype != dtype:
                raise OptionError(
                    f"the checkpoint {path} has a tensor of {value.dtype} with shape {value.shape}, the model one of "
                    f"{dtype} with shape {np.shape(leaf)}"
                )
            read.append(value)
        return read, int(about["step"]), [float.fromhex(loss) for loss in about["losses"]]


def _read_checkpoint(path: pathlib.Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What is known of the steps, and the tensors."""
    try:
        with np.load(path) as file:
            about = json.loads(file["about"].tobytes())
            names = sorted((name for name in file.files if name.startswith("leaf_")), key=lambda name: int(name[5:]))
            return {"step": int(about["step"]), "losses": about["losses"]}, [file[name] for name in names]
    except OSError as error:
        raise make_file_error(error, str(path)) from error
    except (ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise OptionError(
            f"{str(path)!r} is no checkpoint of a trainer, or is damaged ({error}); remove it to begin anew"
        ) from error


class _Bar:
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


def _bar(total: int, initial: int, shows: bool) -> _Bar:
    return _Bar(total, initial, shows)


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
