# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traces Python functions to functions of the program, and transforms them: calls, gradients, branches and loops."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import tree
from ._builder import Function, current, is_tracing, number_kind, number_of_index, place, quoted
from ._errors import TracingError
from ._tensor import Index, Tensor, constant, create, tensor, wrap
from ._types import FLOATS, Spec


def is_value(leaf: Any) -> bool:
    """Whether a leaf of an argument is traced; others, such as strings and functions, are passed on as they are."""
    return isinstance(leaf, (Tensor, Index, bool, int, float, np.ndarray, np.generic))


def as_tensors(leaves: Sequence[Any], what: str) -> list[Tensor]:
    """The leaves of a result or of carried values."""
    for leaf in leaves:
        if not is_value(leaf):
            raise TracingError(f"expected tensors as {what}, got {type(leaf).__name__}")
    return [tensor(leaf) for leaf in leaves]


@dataclasses.dataclass
class Traced:
    """A function of the program, and how the results of its Python function are put together."""

    symbol: str
    function: Function
    results: list[Tensor]
    form: tree.Structure

    @property
    def types(self) -> list[str]:
        return [result._type for result in self.results]


def trace_function(
    name: str, types: Sequence[str], body: Callable[[list[Any]], Any], *, is_entry: bool = False
) -> Traced:
    """Traces `body`, which gets the arguments, to a function of its own."""
    trace = current()
    function = Function(name if is_entry else trace.unique(name), trace.function)
    where = place()
    numbers = trace.native.begin_function(function.name, is_entry, list(types), where)
    before, trace.function = trace.function, function
    try:
        leaves, form = tree.flatten(body([wrap(number) for number in numbers]))
        results = as_tensors(leaves, "results of a traced function")
        trace.native.end_function([trace.number(result) for result in results], where)
    except BaseException:
        trace.native.erase_function(function.name)
        raise
    finally:
        trace.function = before
    return Traced(function.name, function, results, form)


def name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", None) or type(function).__name__
    return name if name != "<lambda>" else "function"


class Arguments:
    """The arguments of a call: the traced leaves, and the rest."""

    def __init__(self, arguments: tuple[Any, ...], keywords: dict[str, Any]):
        self.leaves, self.form = tree.flatten((arguments, keywords))
        self.at = [index for index, leaf in enumerate(self.leaves) if is_value(leaf)]
        self.values = [tensor(self.leaves[index]) for index in self.at]

    def rebuild(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        leaves = list(self.leaves)
        for index, value in zip(self.at, values):
            leaves[index] = value
        return tree.unflatten(self.form, leaves)  # type: ignore[no-any-return]

    def trace(self, function: Callable[..., Any]) -> Traced:
        def body(values: list[Any]) -> Any:
            arguments, keywords = self.rebuild(values)
            return function(*arguments, **keywords)

        return trace_function(name_of(function), [value._type for value in self.values], body)

    def numbers(self, traced: Traced) -> list[int]:
        """The operands of a call: the arguments, and what the function uses of its surroundings."""
        trace = current()
        return [trace.number(value) for value in [*self.values, *traced.function.captures]]


def call(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A call that stays a call of a function in the program."""
    given = Arguments(arguments, keywords)
    traced = given.trace(function)
    results = current().create(
        "func.call", given.numbers(traced), [("callee", f"@{quoted(traced.symbol)}")], traced.types
    )
    return tree.unflatten(traced.form, map(wrap, results))


# Derivatives.


def _positions(argnums: int | Sequence[int], count: int) -> list[int]:
    try:
        positions = [operator.index(one) for one in (argnums if isinstance(argnums, (list, tuple)) else (argnums,))]
    except TypeError:
        raise TracingError(f"argnums is the number of an argument, or several, got {argnums!r}") from None
    for position in positions:
        if not -count <= position < count:
            raise TracingError(f"argnums has {position}, but the function is called with {count} positional arguments")
    return [position % count for position in positions]


def _wrt(
    given: Arguments, arguments: tuple[Any, ...], positions: Sequence[int]
) -> tuple[list[int], list[tree.Structure]]:
    """The numbers of the arguments of the program's function, and the structure of each position."""
    first: list[int] = []
    total = 0
    for argument in arguments:
        first.append(total)
        total += len(tree.leaves(argument))
    wrt, forms = [], []
    for position in positions:
        leaves, form = tree.flatten(arguments[position])
        for offset, leaf in enumerate(leaves):
            index = first[position] + offset
            if index not in given.at:
                raise TracingError(f"a derivative is by tensors of floats, got {type(leaf).__name__}")
            number = given.at.index(index)
            if given.values[number].element_type not in FLOATS:
                raise TracingError(f"a derivative is by tensors of floats, got {given.values[number]}; give 1.0, not 1")
            wrt.append(number)
        forms.append(form)
    return wrt, forms


def value_and_grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the value of `function`, a float of rank 0, and its gradient with respect to positional
    arguments, in their trees. With `has_aux` the function gives (value, others), and the result is ((value, others),
    gradient)."""

    @functools.wraps(function)
    def differentiated(*arguments: Any, **keywords: Any) -> Any:
        if not is_tracing():
            from ._jit import jit

            return jit(differentiated)(*arguments, **keywords)
        given = Arguments(arguments, keywords)
        positions = _positions(argnums, len(arguments))
        wrt, forms = _wrt(given, arguments, positions)
        traced = given.trace(function)
        value = traced.results[0] if traced.results else None
        if value is None or value._static or value.element_type not in FLOATS:
            raise TracingError(
                f"a gradient is of a function whose value is a float of rank 0, got {value}; take its sum or mean"
            )
        is_pair = traced.form.kind is tuple and len(traced.form.children) == 2 and traced.form.children[0] == tree.LEAF
        if has_aux and not is_pair:
            raise TracingError("with has_aux=True the function gives (value, others)")
        if not has_aux and len(traced.results) != 1:
            raise TracingError("a gradient is of a function with one result; has_aux=True allows further ones")
        attributes = [("callee", f"@{quoted(traced.symbol)}"), ("wrt", f"array<i64: {', '.join(map(str, wrt))}>")]
        if len(traced.results) > 1:
            attributes.append(("has_aux", "unit"))
        types = [*traced.types, *(given.values[number]._type for number in wrt)]
        made = list(map(wrap, current().create("ad.value_and_grad", given.numbers(traced), attributes, types)))
        gradients = iter(made[len(traced.results) :])
        trees = tuple(tree.unflatten(form, [next(gradients) for _ in range(form.count())]) for form in forms)
        result = tree.unflatten(traced.form, made[: len(traced.results)])
        return result, trees if isinstance(argnums, (list, tuple)) else trees[0]

    return differentiated


def grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """The gradient of a function, as value_and_grad has it; with `has_aux` (gradient, others)."""
    both = value_and_grad(function, argnums, has_aux=has_aux)

    @functools.wraps(function)
    def gradient(*arguments: Any, **keywords: Any) -> Any:
        value, found = both(*arguments, **keywords)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(results, pullback): the pullback gives the cotangents of the arguments, a tuple of their trees, for a cotangent
    of the results. With `has_aux` the function gives (results, others), which come third."""
    given = Arguments(primals, {})
    wrt, forms = _wrt(given, primals, range(len(primals)))
    traced = given.trace(function)
    results = list(
        map(
            wrap,
            current().create(
                "func.call", given.numbers(traced), [("callee", f"@{quoted(traced.symbol)}")], traced.types
            ),
        )
    )
    whole = tree.unflatten(traced.form, results)
    if has_aux and not (isinstance(whole, tuple) and len(whole) == 2):
        raise TracingError("with has_aux=True the function gives (results, others)")
    value, others = whole if has_aux else (whole, None)
    count = len(tree.leaves(value))

    def pullback(cotangents: Any) -> tuple[Any, ...]:
        leaves, form = tree.flatten(cotangents)
        if form != tree.structure(value):
            raise TracingError(f"expected cotangents in the structure of the results, got {cotangents}")
        given_cotangents = [tensor(leaf, result.element_type) for leaf, result in zip(leaves, results)]
        used = [one for one, result in zip(given_cotangents, results) if result.element_type in FLOATS]
        used += [zeros_like(result) for result in results[count:] if result.element_type in FLOATS]
        trace, numbers = current(), given.numbers(traced)
        operands = [*numbers, *(trace.number(one) for one in used)]
        attributes = [
            ("callee", f"@{quoted(traced.symbol)}"),
            ("wrt", f"array<i64: {', '.join(map(str, wrt))}>"),
            ("operandSegmentSizes", f"array<i32: {len(numbers)}, {len(used)}>"),
        ]
        types = [*traced.types, *(given.values[number]._type for number in wrt)]
        made = iter(list(map(wrap, trace.create("ad.vjp", operands, attributes, types)))[len(results) :])
        return tuple(tree.unflatten(form, [next(made) for _ in range(form.count())]) for form in forms)

    return (value, pullback, others) if has_aux else (value, pullback)


def zeros_like(value: Tensor) -> Tensor:
    return (
        create("mul", [value, constant(0, value.element_type)])
        if None in value._static
        else full(value._static, 0, value.element_type)
    )


def full(shape: Sequence[Any], value: Any, element: str) -> Tensor:
    from ._tensor import broadcast_to

    return broadcast_to(tensor(value, element).astype(element), shape)


def stop_gradient(value: Any) -> Any:
    """The tree of tensors, whose derivatives are zero."""
    return tree.map(lambda leaf: create("stop_gradient", [tensor(leaf)]), value)


# Branches and loops.


def _condition(value: Any) -> int:
    made = tensor(value)
    if made._static or made.element_type != "i1":
        raise TracingError(f"a condition is a boolean of rank 0, got {made}")
    trace = current()
    return trace.create("tensor.extract", [trace.number(made)])[0]


def _require_same(
    left: tree.Structure, right: tree.Structure, lefts: Sequence[Tensor], rights: Sequence[Tensor], what: str
) -> None:
    if left != right:
        raise TracingError(f"{what} differ in structure: {tree.names(left)} and {tree.names(right)}")
    for name, one, other in zip(tree.names(left), lefts, rights):
        if one._type != other._type:
            raise TracingError(
                f"{what} differ in type{f' at {name}' if name else ''}: {one._type} and {other._type}; "
                "convert one with .astype, or give its sizes with .reshape"
            )


def cond(condition: Any, on_true: Callable[..., Any], on_false: Callable[..., Any], *operands: Any) -> Any:
    """The result of `on_true` or `on_false` on the operands; only one of them runs."""
    trace, number = current(), _condition(condition)
    made: list[list[Tensor]] = []
    forms: list[tree.Structure] = []
    with trace.whole():
        for branch in (on_true, on_false):
            with trace.region(()):
                leaves, form = tree.flatten(branch(*operands))
                values = as_tensors(leaves, "results of a branch")
                made.append(values)
                forms.append(form)
                if len(made) == 2:
                    _require_same(*forms, *made, "the branches of cond")
                trace.end_region("scf.yield", [trace.number(value) for value in values])
        results = trace.create("scf.if", [number], (), [value._type for value in made[0]], 2)
        return tree.unflatten(forms[0], map(wrap, results))


def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """What `value` is after value = body(i, value) for i from `lower` up to `upper`, beginning with `init`. The bounds
    are numbers, or traced integers."""
    trace = current()
    leaves, form = tree.flatten(init)
    carried = as_tensors(leaves, "carried values")
    operands = [number_of_index(lower), number_of_index(upper), number_of_index(1)]
    types = [value._type for value in carried]
    with trace.whole():
        with trace.region(["index", *types]) as numbers:
            index, *values = map(wrap, numbers)
            results, its = tree.flatten(body(index, tree.unflatten(form, values)))
            made = _carry(results, carried)
            _require_same(form, its, carried, made, "the carried values before and after an iteration")
            trace.end_region("scf.yield", [trace.number(value) for value in made])
        operands += [trace.number(value) for value in carried]
        return tree.unflatten(form, map(wrap, trace.create("scf.for", operands, (), types, 1)))


def _carry(leaves: Sequence[Any], carried: Sequence[Tensor]) -> list[Tensor]:
    """Numbers of Python take the element type of what they replace."""
    if len(leaves) != len(carried):
        return as_tensors(leaves, "carried values")
    made = []
    for leaf, value in zip(leaves, carried):
        if number_kind(leaf) is float and value.element_type not in FLOATS:
            raise TracingError(
                f"a carried value is {value} before an iteration and {leaf} after it; begin with a float"
            )
        made.append(tensor(leaf, value.element_type) if number_kind(leaf) else _of_weak(tensor(leaf), value))
    return made


def _of_weak(made: Tensor, value: Tensor) -> Tensor:
    return made.astype(value.element_type) if made.is_weak else made


def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], init: Any) -> Any:
    """What `value` is when condition(value) is false, after value = body(value) as often as it is true."""
    trace = current()
    leaves, form = tree.flatten(init)
    carried = as_tensors(leaves, "carried values")
    types = [value._type for value in carried]
    with trace.whole():
        with trace.region(types) as numbers:
            values = list(map(wrap, numbers))
            go = _condition(condition(tree.unflatten(form, values)))
            trace.end_region("scf.condition", [go, *(trace.number(value) for value in values)])
        with trace.region(types) as numbers:
            results, its = tree.flatten(body(tree.unflatten(form, map(wrap, numbers))))
            made = _carry(results, carried)
            _require_same(form, its, carried, made, "the carried values before and after an iteration")
            trace.end_region("scf.yield", [trace.number(value) for value in made])
        operands = [trace.number(value) for value in carried]
        return tree.unflatten(form, map(wrap, trace.create("scf.while", operands, (), types, 2)))


def scan(
    body: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """(carry, ys): (carry, y) = body(carry, x) for each x of the leading axis of `xs`, a tree of tensors; `ys` has each
    y along a new leading axis."""
    leaves, form = tree.flatten(xs)
    inputs = as_tensors(leaves, "xs of scan")
    counts = {value._static[0] if value._static else None for value in inputs} | ({length} - {None})
    if len(counts) != 1 or None in counts:
        raise TracingError(
            f"scan needs one number of steps: the leading sizes of xs and `length` are {sorted(map(str, counts))}"
        )
    count: int = counts.pop()  # type: ignore[assignment]

    def step(index: Any, carry: Any) -> tuple[Any, Any]:
        at = (count - 1) - index if reverse else index
        return body(carry, tree.unflatten(form, [value[at] for value in inputs]))

    # What a step gives, to know the types of ys; the function that is traced for it is not part of the program.
    shapes, its = _types_of(lambda carry: step(wrap(number_of_index(0)), carry)[1], init)
    buffers = [full((count, *shape), 0, element) for shape, element in shapes]

    def iterate(index: Any, state: Any) -> tuple[Any, list[Tensor]]:
        carry, ys = state
        at = (count - 1) - index if reverse else index
        carry, y = step(index, carry)
        found, form_of_y = tree.flatten(y)
        if form_of_y != its:
            raise TracingError("scan: the steps give trees of different structure")
        return carry, [buffer.at[at].set(one) for buffer, one in zip(ys, found)]

    carry, ys = fori_loop(0, count, iterate, (init, buffers))
    return carry, tree.unflatten(its, ys)


def _types_of(
    function: Callable[..., Any], *arguments: Any
) -> tuple[list[tuple[tuple[Any, ...], str]], tree.Structure]:
    """(shape, element type) of the results of a function, and their structure."""
    given = Arguments(arguments, {})
    traced = given.trace(function)
    current().native.erase_function(traced.symbol)
    for value in traced.results:
        if None in value._static:
            raise TracingError(f"scan: a step gives {value}, whose sizes are dynamic; give ys of known sizes")
    return [(value._static, value.element_type) for value in traced.results], traced.form


# The host.


def feed(name: str, spec: Spec) -> Tensor:
    """The next tensor of a stream of the host, which a call gives in `feeds`."""
    from . import ops

    return ops.feed(name=name, type=spec)


def receive(name: str, *values: Any) -> None:
    """Passes tensors to the host: to the function that a call gives in `receives`."""
    from . import ops

    ops.receive([tensor(value) for value in values], name=name)


def _missing(name: str, instead: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"adjoint.{name} does not exist yet; {instead}")

    refuse.__name__ = name
    refuse.__doc__ = f"Does not exist yet; {instead}."
    return refuse


jvp = _missing("jvp", "a product with the Jacobian is two uses of adjoint.vjp")
vmap = _missing("vmap", "write the batch as a leading axis, which operators and adjoint.numpy broadcast over")
checkpoint = _missing("checkpoint", "the compiler keeps what reverse needs")
custom_vjp = _missing("custom_vjp", "docs/differentiation.md says how a dialect has rules of its own")
custom_jvp = _missing("custom_jvp", "docs/differentiation.md says how a dialect has rules of its own")
