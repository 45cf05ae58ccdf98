# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A training run as one program: a loop over steps that carries parameters, optimizer states and the loss scale.

The loop is written, not traced as the functions that it calls: only the text around it has the loss, and may have names
for the types of feeds (`!images`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from . import delayed as delays
from . import scaling as scales
from .._checks import is_whole
from ._writer import Size, literal, signature, tensor
from .delayed import DelayedScaling
from .optim import Optimizer, Storage, call_arguments, update_call, update_function
from .scaling import DynamicScale, Scaling

_NAME = re.compile(r"[\w.$-]+", re.ASCII)  # what MLIR takes as a name without quotes


@dataclasses.dataclass(frozen=True)
class Training:
    """What to train, and how.

    - `loss`: the name of a function of the parameters, in the order of `parameters`, and of one value of each feed, in
      the order of `feeds`. It returns a tensor<f32>.
    - `parameters`: the shapes by name.
    - `feeds`: the types by name. Besides them, the loop reads the feed "rate" (tensor<f32>).
    - `storage`: how parameters are kept; the loss function takes parameters of the type `storage.read`.
    - `scaling`: of the loss. With `monitor`, each step sends its scale to the receiver "scale", and whether it is made
      to "finite".
    - `delayed`: of the contractions that the policy `f8` computes in 8 bits; without it, each computes its scales from
      its operands.
    - `seed`: of stochastic rounding.
    """

    loss: str
    parameters: Mapping[str, Sequence[int]]
    feeds: Mapping[str, str]
    steps: int
    optimizer: Optimizer
    storage: Storage = dataclasses.field(default_factory=Storage)
    scaling: Scaling | None = None
    delayed: DelayedScaling | None = None
    monitor: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ValueError("expected at least one parameter")
        if not is_whole(self.steps, 0):
            raise ValueError(f"expected a number of steps of at least 0, got {self.steps!r}")
        if not is_whole(self.seed, -(2**63)):
            raise ValueError(f"expected a seed of 64 bits, got {self.seed!r}")
        if "rate" in self.feeds:
            raise ValueError("the loop reads the feed 'rate' itself")
        for name in [self.loss, *self.parameters, *self.feeds]:
            if not _NAME.fullmatch(name):
                raise ValueError(f"expected names of letters, digits, '_', '.', '$' and '-', got {name!r}")
        for name, shape in self.parameters.items():
            if not isinstance(shape, Sequence) or not all(is_whole(size, 0) for size in shape):
                raise ValueError(f"expected sizes of at least 0 as the shape of parameter {name!r}, got {shape!r}")


def training_function(name: str, training: Training) -> str:
    """The functions of a training run, of which `@NAME` takes the parameters (f32, or as stored) and returns them."""
    return _Loop(name, training).text()


class _Loop:
    def __init__(self, name: str, training: Training) -> None:
        self.name, self.training = name, training
        self.optimizer, self.storage = training.optimizer, training.storage
        self.guarded = training.scaling is not None
        self.dynamic = isinstance(training.scaling, DynamicScale)
        self.shapes = [tuple(shape) for shape in training.parameters.values()]

    def text(self) -> str:
        functions = [self._update(shape) for shape in dict.fromkeys(self.shapes)]
        if self.guarded:
            gradients = [(shape, self.storage.read) for shape in self.shapes]
            functions.append(scales.all_finite(f"{self.name}_finite", gradients, scaled=True))
        if isinstance(self.training.scaling, DynamicScale):
            functions.append(scales.update_scale(f"{self.name}_scale", self.training.scaling))
        if delayed := self.training.delayed:
            functions.append(delays.scales_of_history(f"{self.name}_scales", delayed))
            functions.append(delays.update_history(f"{self.name}_history", delayed))
            functions.append(self._scaled_loss(delayed))
        return "\n".join([*functions, self._main()])

    def _scaled_loss(self, delayed: DelayedScaling) -> str:
        """The loss with scales as a further argument, which ad-autocast gives to the contractions."""
        kinds = [*[tensor(s, self.storage.read) for s in self.shapes], *self.training.feeds.values()]
        names = [f"%v{i}" for i in range(len(kinds))]
        arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, kinds))
        return (
            f"func.func private @{self.name}_scaled_loss({arguments}, %scales: {delayed.scales} {{ad.scales}})"
            f" -> tensor<f32> {{\n"
            f"  %loss = func.call @{self.training.loss}({', '.join(names)})\n"
            f"      : {signature(kinds, ['tensor<f32>'])}\n  return %loss : tensor<f32>\n}}\n"
        )

    def _update_name(self, shape: tuple[Size, ...]) -> str:
        return "_".join([self.name, "update", *map(str, shape)])

    def _update(self, shape: tuple[Size, ...]) -> str:
        return update_function(
            self._update_name(shape), self.optimizer, shape, storage=self.storage, guarded=self.guarded
        )

    def _carried(self) -> list[tuple[str, str, str]]:
        """(name in the loop, first value, type) of each value that the loop carries."""
        carried = []
        for i, shape in enumerate(self.shapes):
            carried.append((f"%p{i}", f"%start{i}", tensor(shape, self.storage.element)))
            carried += [(f"%{state}{i}", f"%zeros{i}", tensor(shape)) for state in self.optimizer.states]
            if self.storage.copy:
                carried.append((f"%copy{i}", f"%first_copy{i}", tensor(shape, self.storage.copy)))
        if self._counts:
            carried.append(("%made", "%none", "tensor<i64>"))
        if self.dynamic:
            carried += [("%scale", "%first_scale", "tensor<f32>"), ("%good", "%none", "tensor<i64>")]
        if delayed := self.training.delayed:
            carried.append(("%history", "%no_history", delayed.magnitudes))
        return carried

    @property
    def _counts(self) -> bool:
        return self.optimizer.needs_step or self.storage.stochastic is not None

    def _main(self) -> str:
        carried = self._carried()
        kinds = [tensor(shape, self.storage.element) for shape in self.shapes]
        arguments = ", ".join(
            f'%start{i}: {kind} {{ad.name = "{name}", ad.parameter, ad.donated = {i}}}'
            for i, (name, kind) in enumerate(zip(self.training.parameters, kinds))
        )
        results = ", ".join(f'{kind} {{ad.name = "{name}"}}' for name, kind in zip(self.training.parameters, kinds))
        bound = ",\n      ".join(f"{inner} = {first}" for inner, first, _ in carried)
        yielded = ", ".join(f"%next_{inner[1:]}" for inner, _, _ in carried)
        all_kinds = ", ".join(kind for _, _, kind in carried)
        names = [inner for inner, _, _ in carried]
        returned = ", ".join(f"%trained#{names.index(f'%p{i}')}" for i in range(len(kinds)))
        body = "".join(f"    {line}\n" for line in self._body())
        before = "".join(f"  {line}\n" for line in self._before())
        return (
            f"func.func @{self.name}({arguments})\n    -> ({results}) {{\n{before}"
            f"  %trained:{len(carried)} = scf.for %step = %c0 to %steps step %c1 iter_args(\n      {bound})\n"
            f"      -> ({all_kinds}) {{\n{body}    scf.yield {yielded} : {all_kinds}\n  }}\n"
            f"  return {returned} : {', '.join(kinds)}\n}}\n"
        )

    def _before(self) -> list[str]:
        lines = [
            "%c0 = arith.constant 0 : index",
            "%c1 = arith.constant 1 : index",
            f"%steps = arith.constant {self.training.steps} : index",
        ]
        if self._counts or self.dynamic:
            lines += ["%none = ad.constant dense<0> : tensor<i64>", "%one = ad.constant dense<1> : tensor<i64>"]
        if self.storage.stochastic:
            lines.append(f"%seed = ad.constant dense<{self.training.seed}> : tensor<i64>")
        if self.training.scaling:
            lines.append(f"%first_scale = ad.constant dense<{literal(self.training.scaling.scale)}> : tensor<f32>")
            lines.append("%unit = ad.constant dense<1.0> : tensor<f32>")
        if delayed := self.training.delayed:
            lines.append(f"%no_history = ad.constant dense<0.0> : {delayed.magnitudes}")
        for i, shape in enumerate(self.shapes):
            if self.optimizer.states:
                lines.append(f"%zeros{i} = ad.constant dense<0.0> : {tensor(shape)}")
            if self.storage.copy:
                kinds = f"{tensor(shape)} -> {tensor(shape, self.storage.copy)}"
                lines.append(f"%first_copy{i} = ad.cast %start{i} : {kinds}")
        return lines

    def _body(self) -> list[str]:
        lines = [f'%feed_{name} = ad.feed "{name}" : {kind}' for name, kind in self.training.feeds.items()]
        lines.append('%rate = ad.feed "rate" : tensor<f32>')
        lines += self._gradient()
        if self.guarded:
            lines += self._check()
        if self._counts:
            lines.append("%number = ad.add %made, %one : tensor<i64>")
        if self.storage.stochastic:
            lines.append("%step_key = ad.rng_bits %seed, %number : tensor<i64>, tensor<i64> -> tensor<i64>")
        for i, shape in enumerate(self.shapes):
            lines += self._call(i, shape)
        if self._counts and self.guarded:
            kinds = "tensor<i1>, tensor<i64>, tensor<i64>"
            lines.append(f"%next_made = ad.select %finite, %number, %made : {kinds}")
        elif self._counts:
            lines.append("%next_made = ad.add %made, %one : tensor<i64>")
        return lines

    def _gradient(self) -> list[str]:
        """%loss and the gradients %g0, %g1, …"""
        count = len(self.shapes)
        read = [tensor(shape, self.storage.read) for shape in self.shapes]
        values = [f"%{'copy' if self.storage.copy else 'p'}{i}" for i in range(count)]
        values += [f"%feed_{name}" for name in self.training.feeds]
        arguments = [*read, *self.training.feeds.values()]
        loss, wanted, lines = self.training.loss, list(range(count)), []
        results = ["%loss", *[f"%g{i}" for i in range(count)]]
        if delayed := self.training.delayed:
            # The cotangents of the scales are the largest magnitudes of this step.
            lines.append(
                f"%scales = func.call @{self.name}_scales(%history) : {signature([delayed.magnitudes], [delayed.scales])}"
            )
            loss, wanted = f"{self.name}_scaled_loss", [*wanted, len(arguments)]
            values, arguments, read = [*values, "%scales"], [*arguments, delayed.scales], [*read, delayed.scales]
            results.append("%magnitudes")
        wrt = f"wrt [{', '.join(map(str, wanted))}]"
        kinds = signature(arguments, ["tensor<f32>", *read])
        called = f"@{loss}({', '.join(values)})"
        if not self.guarded:
            gradient = f"{', '.join(results)} = ad.value_and_grad {called} {wrt}\n        : {kinds}"
        else:
            # The cotangent of the loss is the scale: the same as the gradient of the loss times the scale.
            kinds = signature([*arguments, "tensor<f32>"], ["tensor<f32>", *read])
            gradient = f"{', '.join(results)} = ad.vjp {called} cotangents({self._scale}) {wrt}\n        : {kinds}"
        lines += [gradient, 'ad.receive "loss"(%loss) : tensor<f32>']
        if delayed:
            kinds = signature([delayed.magnitudes, delayed.scales], [delayed.magnitudes])
            lines.append(f"%next_history = func.call @{self.name}_history(%history, %magnitudes) : {kinds}")
        return lines

    @property
    def _scale(self) -> str:
        return "%scale" if self.dynamic else "%first_scale"

    def _check(self) -> list[str]:
        count = len(self.shapes)
        gradients = ", ".join(f"%g{i}" for i in range(count))
        read = [tensor(shape, self.storage.read) for shape in self.shapes]
        lines = [
            f"%factor = ad.div %unit, {self._scale} : tensor<f32>",
            f"%finite = func.call @{self.name}_finite({gradients}, %factor)\n"
            f"        : {signature([*read, 'tensor<f32>'], ['tensor<i1>'])}",
        ]
        if self.training.monitor:
            lines.append(f'ad.receive "scale"({self._scale}) : tensor<f32>')
            lines.append('ad.receive "finite"(%finite) : tensor<i1>')
        if self.dynamic:
            kinds = signature(["tensor<f32>", "tensor<i64>", "tensor<i1>"], ["tensor<f32>", "tensor<i64>"])
            lines.append(
                f"%next_scale, %next_good = func.call @{self.name}_scale(%scale, %good, %finite)\n        : {kinds}"
            )
        return lines

    def _call(self, i: int, shape: tuple[Size, ...]) -> list[str]:
        named = {"step": "%number", "key": f"%key{i}"}
        scalars = [named.get(s, f"%{s}") for s in call_arguments(self.optimizer, self.storage, self.guarded)]
        values = [f"%p{i}", f"%g{i}", *[f"%{state}{i}" for state in self.optimizer.states], *scalars]
        results = [f"%next_p{i}", *[f"%next_{state}{i}" for state in self.optimizer.states]]
        results += [f"%next_copy{i}"] if self.storage.copy else []
        lines = []
        if self.storage.stochastic:
            lines.append(f"%use{i} = ad.constant dense<{i}> : tensor<i64>")
            lines.append(f"%key{i} = ad.rng_bits %step_key, %use{i} : tensor<i64>, tensor<i64> -> tensor<i64>")
        lines.append(
            update_call(
                self._update_name(shape), self.optimizer, shape, values, results, storage=self.storage,
                guarded=self.guarded,
            ).replace("\n", "\n    ")
        )
        return lines
