# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Training loops that are one program."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import tree
from ._batches import Batches
from ._checkpoints import Description, require_writable, restore, save
from ._checks import is_number, is_whole
from ._derivatives import value_and_grad
from ._device import DeviceArray
from ._descriptions import configuration_of, fields_of, text_of, types_of
from ._eager import eager
from ._errors import NonFiniteLossError, OptionError, ProgramError
from ._jit import Jitted, jit
from ._jit_options import check_jit_options
from ._loops import fori_loop
from ._nonfinite import NonFinites, nan
from ._progress import Bar, Losses, NotFinite, loss_curve
from ._scaling import all_finite
from ._statistics import statistics_of, with_statistics
from ._streams import feed, receive
from ._traced_program import TracedProgram
from ._types import FLOATS
from .optim import DelayedScales, LossScale, clip_by_global_norm

#: So many losses in a row that are not finite stop a training with a loss scale, which skips their steps.
_PATIENCE = 100
_SCALES: tuple[type, type] = LossScale, DelayedScales


@dataclasses.dataclass
class Trained:
    """What training has reached."""

    model: Any
    state: Any
    step: int
    losses: list[float]
    #: The states of the loss scale and of the delayed scales; None of what the trainer does not have.
    scales: Any = (None, None)

    def loss_curve(self) -> str:
        """The losses as an SVG picture, on a logarithmic axis if all are positive."""
        return loss_curve(self.losses)

    def _repr_svg_(self) -> str:
        return self.loss_curve()


class Trainer:
    """Minimises loss(model, batch), a float of rank 0. The loop is part of the program: it reads batches by feeds and
    sends losses to the host, and Python runs between parts of `steps_per_call` steps.

    - A loss that is not finite raises NonFiniteLossError, which has what was reached before its part as `trained`. With
      `on_nonfinite="warn"` training goes on. Steps that `loss_scale` skips are none, but 100 such losses in a row are.
    - `delayed_scales` are those of the contractions that precision="f8" computes in 8 bits.
    - With a `folder` a checkpoint is written there after each part, whole or not at all; `fit` goes on from it, to the
      same bits as without a stop, if the data are the same. It knows the layers and the settings: other layers or
      another kind of optimizer raise, other settings, such as the learning rate, hold from there on, with a warning.

    With a target that has a device, model and state stay there between parts, and are device arrays in what `fit` returns.

    Ctrl-C ends `fit` with what is done. Other errors, such as those of the data, have it as `trained`. `options` are those of adjoint.jit.
    """

    def __init__(
        self,
        loss: Callable[[Any, Any], Any],
        optimizer: Any,
        *,
        clip_norm: float | None = None,
        loss_scale: LossScale | None = None,
        delayed_scales: DelayedScales | None = None,
        on_nonfinite: str = "stop",
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
        if not callable(loss):
            raise OptionError(f"expected loss as a function of the model and a batch, got {loss!r}")
        if on_nonfinite not in ("stop", "warn"):
            raise OptionError(f"expected on_nonfinite as 'stop' or 'warn', got {on_nonfinite!r}")
        for name, given, kind in zip(("loss_scale", "delayed_scales"), (loss_scale, delayed_scales), _SCALES):
            if given is not None and not isinstance(given, kind):
                raise OptionError(f"expected {name} as adjoint.optim.{kind.__name__}, or None, got {given!r}")
        check_jit_options("Trainer", options)
        self.loss, self.optimizer, self.clip_norm = loss, optimizer, clip_norm
        self.loss_scale, self.delayed_scales, self.on_nonfinite = loss_scale, delayed_scales, on_nonfinite
        self.folder = None if folder is None else pathlib.Path(folder)
        self.steps_per_call, self.progress, self.options = steps_per_call, progress, options

    def fit(self, model: Any, data: Iterable[Any], steps: int) -> Trained:
        """Trains up to step number `steps`, from a checkpoint if there is one. Each step takes one batch of the data,
        all of one shape."""
        if not is_whole(steps, 0):
            raise OptionError(f"expected steps as an int of at least 0, got {steps!r}")
        path, description = self._path(), self._describe(model)
        leaves, form = tree.flatten(self._begin(model))
        leaves, step, losses = (path and restore(path, leaves, description)) or (leaves, 0, [])
        reached = self._trained(tree.unflatten(form, leaves), step, losses)
        if step >= steps:
            if step > 0 and self.progress:
                warnings.warn(f"the checkpoint {path} is of step {step}: up to step {steps} nothing is left", stacklevel=2)
            return reached
        if path is not None:
            require_writable(path)
        # What is donated is overwritten: the caller keeps the model that it gave.
        values = tree.map(_copy, tree.unflatten(form, leaves))
        return self._fit(values, Batches(data, step), reached, steps, description)

    def _fit(self, values: Any, batches: Batches, reached: Trained, steps: int, description: Description) -> Trained:
        """Part by part. `reached` is what is kept, whatever happens."""
        program, feeds, path = self._program(batches), batches.feeds(), self._path()
        bar = Bar(steps, reached.step, self.progress)
        received = Losses(None if self.on_nonfinite == "warn" else 1 if self.loss_scale is None else _PATIENCE)
        try:
            while reached.step < steps:
                count = min(self.steps_per_call, steps - reached.step)
                before = reached = self._trained(tree.map(_copy, values), reached.step, reached.losses)
                values = program(*values, np.int64(count), feeds=feeds, receives={"loss": received})
                reached = self._trained(values, before.step + count, before.losses + received.take())
                self._check(before, reached, received)
                if path is not None:
                    save(path, values, reached.step, reached.losses, description)
                bar.update(count, reached.losses[-1])
        except KeyboardInterrupt:
            _warn(f"interrupted: the model is that of step {reached.step}", level=4)
        except NotFinite:
            raise self._stopped(reached, received) from None
        except NonFiniteLossError:
            raise
        except Exception as error:
            if not (isinstance(error, ProgramError) and batches.ended):
                keep_trained(error, reached)
                raise
            _warn(
                f"the data ended after step {reached.step}: the steps of the part after it are left out; a part has "
                f"steps_per_call={self.steps_per_call} steps, of which Trainer takes fewer",
                level=4,
            )
        finally:
            bar.close()
        return reached

    def trace(self, model: Any, batch: Any) -> TracedProgram:
        """The program of the loop, for batches of the types of this one: to print, to lower and to save."""
        return self._program(Batches([batch], 0)).trace(*self._begin(model), np.int64(1))

    def find_nonfinite(self, trained: Trained, data: Iterable[Any]) -> NonFinites:
        """Which operations make NaNs and infinities in the steps that `trained` has a loss of beyond its model, such as
        the `trained` of NonFiniteLossError, or in the next step: adjoint.diff.nan of the loop. `data` are those of
        `fit`, from the first batch on."""
        batches = Batches(data, trained.step)
        values = (trained.model, trained.state, *trained.scales)
        count = np.int64(max(len(trained.losses) - trained.step, 1))
        traced = self._program(batches).trace(*values, count)
        return nan(traced.program, *tree.leaves(values), count, feeds=batches.feeds())

    # The program.

    def _begin(self, model: Any) -> tuple[Any, Any, Any, Any]:
        scales = (one and one.init() for one in (self.loss_scale, self.delayed_scales))
        return (model, self.optimizer.init(model), *scales)

    def _program(self, batches: Batches) -> Jitted:
        made: Jitted = jit(
            lambda model, state, scale, history, count: fori_loop(
                0, count, lambda _, carried: self._step(carried, batches), (model, state, scale, history)
            ),
            donate_argnames=("model", "state", "scale", "history"),
            **self.options,
        )
        return made

    def _step(self, carried: tuple[Any, Any, Any, Any], batches: Batches) -> tuple[Any, Any, Any, Any]:
        model, state, scale, history = carried
        batch = tree.unflatten(batches.form, [feed(*each) for each in zip(batches.names, batches.specs)])
        value, statistics, gradients, history = self._differentiate(model, batch, scale, history)
        receive("loss", value)
        seen = with_statistics(model, statistics)
        if self.loss_scale is not None:
            gradients = self.loss_scale.unscale(gradients, scale)
        clipped = gradients if self.clip_norm is None else clip_by_global_norm(gradients, self.clip_norm)[0]
        changed = self.optimizer.update(seen, clipped, state)
        if self.loss_scale is not None:
            changed, scale = self.loss_scale.update(changed, (model, state), gradients, scale)
        return (*changed, scale, history)

    def _differentiate(self, model: Any, batch: Any, scale: Any, history: Any) -> tuple[Any, Any, Any, Any]:
        """(loss, statistics that the model then has, gradients of the scaled loss, next history)."""

        def loss(model: Any, batch: Any, scale: Any) -> Any:
            value = self.loss(model, batch)
            scaled = value if self.loss_scale is None else self.loss_scale.scale(value, scale)
            return scaled, (value, statistics_of(model))

        if self.delayed_scales is None:
            (_, seen), gradients = value_and_grad(loss, has_aux=True)(model, batch, scale)
            return (*seen, gradients, None)
        differentiated = self.delayed_scales.value_and_grad(loss, has_aux=True)
        (_, seen), gradients, history = differentiated(history, model, batch, scale)
        return (*seen, gradients, history)

    # What is reached, and how it ends.

    def _trained(self, values: Any, step: int, losses: list[float]) -> Trained:
        model, state, *scales = values
        return Trained(model, state, step, losses, tuple(scales))

    def _check(self, before: Trained, reached: Trained, received: Losses) -> None:
        """Warns of losses that are not finite, and keeps a model that is not finite from the checkpoint."""
        losses = reached.losses
        if self.on_nonfinite == "warn":
            if received.has_bad:
                step = next(step for step in range(before.step, len(losses)) if not np.isfinite(losses[step]))
                _warn(f"the loss of step {step + 1} is {losses[step]}", level=5)
                received.has_bad = False
            return
        if _all_finite(tree.leaves(reached.model)):
            return
        names = tree.names(tree.structure(reached.model))
        for name, old, new in zip(names, tree.leaves(before.model), tree.leaves(reached.model)):
            if _is_finite(old) and not _is_finite(new):
                raise self._error(f"{name or 'the parameter'} is not finite after step {len(losses)}", before, losses)

    def _stopped(self, before: Trained, received: Losses) -> NonFiniteLossError:
        losses = before.losses + received.take()
        many = f" and those of the {received.bad - 1} steps before it are not finite" * (received.bad > 1)
        return self._error(f"the loss of step {len(losses)} is {losses[-1]}{many}", before, losses)

    def _error(self, what: str, before: Trained, losses: list[float]) -> NonFiniteLossError:
        folder = "" if self.folder is None else f", as in the checkpoint in {str(self.folder)!r}"
        return NonFiniteLossError(
            f"{what}; the model of step {before.step} is the `trained` of this error{folder}. "
            "trainer.find_nonfinite(error.trained, data) names the operation that made it; on_nonfinite='warn' goes on",
            dataclasses.replace(before, losses=losses),
        )

    # Checkpoints.

    def _path(self) -> pathlib.Path | None:
        return None if self.folder is None else self.folder / "checkpoint.npz"

    def _describe(self, model: Any) -> Description:
        parts = ("optimizer", "loss_scale", "delayed_scales")
        fields = {name: text for part in parts for name, text in fields_of(getattr(self, part), part).items()}
        types = {name: text for name, text in fields.items() if name.split(".")[-1] in parts}
        settings = {name: text for name, text in fields.items() if name not in types}
        settings |= {"clip_norm": text_of(self.clip_norm), **configuration_of(model, "model")}
        settings |= {name: text_of(self.options.get(name)) for name in ("numerics", "precision")}
        return Description(types_of(model, "model") | types, settings)


def keep_trained(error: Exception, reached: Trained) -> None:
    """Gives an error that ends the training what was reached, as `trained`."""
    with contextlib.suppress(AttributeError):  # classes with slots have no other attributes
        error.trained = reached  # type: ignore[attr-defined]
        if reached.step and hasattr(error, "add_note"):
            error.add_note(f"the model of step {reached.step} is the `trained` of this error")


def _warn(text: str, level: int = 3) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=level)


def _copy(leaf: Any) -> Any:
    """A copy where the leaf is."""
    return leaf.copy() if isinstance(leaf, DeviceArray) else np.array(leaf)


def _all_finite(leaves: list[Any]) -> bool:
    """Of leaves on a device, there: whether all floats are finite. Leaves on the host are tested one by one."""
    floats = [leaf for leaf in leaves if isinstance(leaf, DeviceArray) and leaf.element_type in FLOATS]
    return bool(floats) and len(floats) == len(leaves) and bool(_are_finite(floats))


@eager()
def _are_finite(leaves: list[Any]) -> Any:
    return all_finite(leaves)


def _is_finite(leaf: Any) -> bool:
    array = np.asarray(leaf)
    return array.dtype.kind not in "fV" or array.dtype.type is np.void or bool(np.isfinite(array).all())
