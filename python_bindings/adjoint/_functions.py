# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traces Python functions to functions of the program, and transforms them: calls, gradients, branches and loops."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import tree
from ._builder import Function, current, is_tracing, number_kind, number_of_index, place, quoted
from ._errors import TracingError
from ._tensor import Index, Tensor, constant_index, create, tensor, wrap
from ._types import FLOATS, Spec, promote


def is_value(leaf: Any) -> bool:
    """Whether a leaf of an argument is traced; others, such as strings and functions, are passed on as they are."""
    return isinstance(leaf, (Tensor, Index, bool, int, float, np.ndarray, np.generic))


def _take_weakness(value: Any, other: Any) -> Any:
    """The value, which takes the element types of the tensors that it meets if the other one does."""
    if isinstance(value, Tensor):
        value.is_weak = other.is_weak
    return value


def _wrapped(numbers: Sequence[int], like: Sequence[Tensor]) -> list[Any]:
    return [_take_weakness(wrap(number), other) for number, other in zip(numbers, like)]


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
    trace.functions.append(function.name)
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
            for value, outer in zip(values, self.values):
                _take_weakness(value, outer)
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
    return tree.unflatten(traced.form, _wrapped(results, traced.results))


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
        numbers = current().create("ad.value_and_grad", given.numbers(traced), attributes, types)
        made = _wrapped(numbers, [*traced.results, *(given.values[number] for number in wrt)])
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
    traced = given.trace(_without_others(function) if has_aux else function)
    results = list(
        map(
            wrap,
            current().create(
                "func.call", given.numbers(traced), [("callee", f"@{quoted(traced.symbol)}")], traced.types
            ),
        )
    )
    whole = tree.unflatten(traced.form, results)
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


def _without_others(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of (results, others) whose derivatives are those of the results."""

    @functools.wraps(function)
    def separated(*arguments: Any) -> Any:
        whole = function(*arguments)
        if not (isinstance(whole, tuple) and len(whole) == 2):
            raise TracingError("with has_aux=True the function gives (results, others)")
        return whole[0], stop_gradient(whole[1])

    return separated


def zeros_like(value: Tensor) -> Tensor:
    return full(value.shape, 0, value.element_type)


def full(shape: Sequence[Any], value: Any, element: str) -> Tensor:
    from ._tensor import broadcast_to

    return broadcast_to(tensor(value, element).astype(element), shape)


def stop_gradient(value: Any) -> Any:
    """The tree of tensors, whose derivatives are zero."""
    return tree.map(lambda leaf: create("stop_gradient", [tensor(leaf)]), value)


def eager(*static: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes functions that are traced inside of a traced function, and compiled and run outside of it. The parameters
    `static` are constants of the program."""

    def wrap_function(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: list[Any] = []

        @functools.wraps(function)
        def either(*arguments: Any, **keywords: Any) -> Any:
            if is_tracing():
                return function(*arguments, **keywords)
            if not compiled:
                from ._jit import jit

                compiled.append(jit(function, static_argnames=static))
            return compiled[0](*arguments, **keywords)

        return either

    return wrap_function


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


class _TypesDiffer(Exception):
    """The branches give numbers where the other one gives tensors, of these element types."""

    def __init__(self, elements: list[str]):
        super().__init__()
        self.elements = elements


def cond(condition: Any, on_true: Callable[..., Any], on_false: Callable[..., Any], *operands: Any) -> Any:
    """The result of `on_true` or `on_false` on the operands; only one of them runs. Numbers take the element type of what
    the other branch gives."""
    number = _condition(condition)
    branches = (on_true, on_false)
    try:
        return _branch(number, branches, operands, None)
    except _TypesDiffer as difference:
        return _branch(number, branches, operands, difference.elements)


def _branch(
    condition: int, branches: Sequence[Callable[..., Any]], operands: Sequence[Any], elements: Sequence[str] | None
) -> Any:
    trace = current()
    made: list[list[Tensor]] = []
    forms: list[tree.Structure] = []
    free: list[list[bool]] = []
    with trace.whole():
        for branch in branches:
            with trace.region(()):
                leaves, form = tree.flatten(branch(*operands))
                values = as_tensors(leaves, "results of a branch")
                free.append([_is_free(leaf) for leaf in leaves])
                if elements is not None and len(elements) == len(values):
                    values = [
                        _retyped(leaf, value, element) if is_free else value
                        for leaf, value, element, is_free in zip(leaves, values, elements, free[-1])
                    ]
                made.append(values)
                forms.append(form)
                if len(made) == 2:
                    if elements is None and forms[0] == forms[1]:
                        _settle_branches(made, free)
                    _require_same(*forms, *made, "the branches of cond")
                trace.end_region("scf.yield", [trace.number(value) for value in values])
        results = trace.create("scf.if", [condition], (), [value._type for value in made[0]], 2)
        weak = [one.is_weak and other.is_weak for one, other in zip(*made)]
        values = list(map(wrap, results))
        for value, is_weak in zip(values, weak):
            value.is_weak = is_weak
        return tree.unflatten(forms[0], values)


def _is_free(leaf: Any) -> bool:
    """Whether a value is a number, or made of numbers alone, and so of no element type of its own."""
    return leaf.is_weak if isinstance(leaf, Tensor) else isinstance(leaf, Index) or number_kind(leaf) in (int, float)


def _retyped(leaf: Any, value: Tensor, element: str) -> Tensor:
    """A free value as a tensor of the element type, without a cast where it is a number."""
    if value.element_type in FLOATS and element not in FLOATS:
        return value
    return tensor(leaf, element) if number_kind(leaf) else value.astype(element)


def _settle_branches(made: Sequence[Sequence[Tensor]], free: Sequence[Sequence[bool]]) -> None:
    def settle(left: Tensor, right: Tensor, is_free: bool, other_is_free: bool) -> str:
        if is_free and other_is_free:
            return promote(left.element_type, right.element_type)
        return right.element_type if is_free else left.element_type

    elements = [settle(*both) for both in zip(*made, *free)]
    if any(
        is_free and value.element_type != element
        for values, its in zip(made, free)
        for value, element, is_free in zip(values, elements, its)
    ):
        raise _TypesDiffer(elements)


# Loops.


@contextlib.contextmanager
def _probe(function: Callable[..., Any], *arguments: Any) -> Iterator[tuple[Arguments, Traced]]:
    """A function that is traced to know its results, and is no part of the program."""
    trace = current()
    names, count = dict(trace.names), len(trace.functions)
    given = Arguments(arguments, {})
    try:
        yield given, given.trace(function)
    finally:
        for symbol in reversed(trace.functions[count:]):
            trace.native.erase_function(symbol)
        del trace.functions[count:]
        trace.names = names


def _carried(init: Any, step: Callable[[Any], Any]) -> tuple[list[Tensor], tree.Structure]:
    """The values that a loop carries. Numbers, and what is made of numbers alone, take the element types that a step
    gives them; where it leaves them as they are, numbers are f32 and i32."""
    leaves, form = tree.flatten(init)
    values = as_tensors(leaves, "carried values")
    for index, leaf in enumerate(leaves):
        if number_kind(leaf) in (int, float):
            values[index] = tensor(leaf, "i64" if number_kind(leaf) is int else "f64")
            values[index].is_weak = True
    for _ in range(2 * len(values)):
        if not any(value.is_weak for value in values) or not _settle(step, form, leaves, values):
            break
    for index, leaf in enumerate(leaves):
        if number_kind(leaf) and values[index].is_weak:
            values[index] = tensor(leaf, "f32" if values[index].element_type == "f64" else "i32")
    return values, form


def _settle(step: Callable[[Any], Any], form: tree.Structure, leaves: Sequence[Any], values: list[Tensor]) -> bool:
    """Gives free values the types of what one step makes of them. False if all have these types."""

    def probed(state: Any) -> Any:
        before = tree.leaves(state)
        after, its = tree.flatten(step(state))
        return _carry(after, before) if its == form else None

    with _probe(probed, tree.unflatten(form, values)) as (_, traced):
        results = [(one.element_type, one.is_weak, one._static) for one in traced.results]
    if len(results) != len(values):
        return False  # an error that the loop itself says
    changed = False
    for index, (element, is_weak, shape) in enumerate(results):
        value = values[index]
        is_other = (element, is_weak) != (value.element_type, True)
        if value.is_weak and is_other and shape == value._static and (element in FLOATS or value.element_type not in FLOATS):
            values[index] = _retyped(leaves[index], value, element)
            values[index].is_weak = is_weak
            changed = True
    return changed


def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """What `value` is after value = body(i, value) for i from `lower` up to `upper`, beginning with `init`. The bounds
    are numbers, or traced integers."""
    trace = current()
    is_natural = lower.is_natural if isinstance(lower, Index) else isinstance(lower, int) and lower >= 0

    def first(state: Any) -> Any:
        index: Index = wrap(number_of_index(lower))
        index.is_natural = is_natural
        return body(index, state)

    carried, form = _carried(init, first)
    operands = [number_of_index(lower), number_of_index(upper), number_of_index(1)]
    types = [value._type for value in carried]
    with trace.whole():
        with trace.region(["index", *types]) as numbers:
            index = wrap(numbers[0])
            index.is_natural = is_natural
            made = _iterate(lambda state: body(index, state), numbers[1:], carried, form)
            trace.end_region("scf.yield", [trace.number(value) for value in made])
        operands += [trace.number(value) for value in carried]
        return tree.unflatten(form, _wrapped(trace.create("scf.for", operands, (), types, 1), carried))


def _iterate(
    body: Callable[[Any], Any], numbers: Sequence[int], carried: Sequence[Tensor], form: tree.Structure
) -> list[Tensor]:
    """The values after an iteration, whose values before it are numbered."""
    leaves, its = tree.flatten(body(tree.unflatten(form, _wrapped(numbers, carried))))
    made = _carry(leaves, carried)
    _require_same(form, its, carried, made, "the carried values before and after an iteration")
    return made


def _carry(leaves: Sequence[Any], carried: Sequence[Tensor]) -> list[Tensor]:
    """Numbers of Python take the element type of what they replace."""
    if len(leaves) != len(carried):
        return as_tensors(leaves, "carried values")
    return [_carry_one(leaf, value) for leaf, value in zip(leaves, carried)]


def _carry_one(leaf: Any, value: Tensor) -> Tensor:
    if number_kind(leaf):
        is_other = number_kind(leaf) is float and value.element_type not in FLOATS
        if is_other and not value.is_weak:
            raise TracingError(
                f"a carried value is {value} before an iteration and {leaf} after it; begin with a float"
            )
        made = tensor(leaf, "f64" if is_other else value.element_type)
        made.is_weak = value.is_weak
        return made
    (made,) = as_tensors([leaf], "carried values")
    is_other = made.element_type in FLOATS and value.element_type not in FLOATS
    return made.astype(value.element_type) if made.is_weak and not value.is_weak and not is_other else made


def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], init: Any) -> Any:
    """What `value` is when condition(value) is false, after value = body(value) as often as it is true."""
    trace = current()
    carried, form = _carried(init, body)
    types = [value._type for value in carried]
    with trace.whole():
        with trace.region(types) as numbers:
            values = _wrapped(numbers, carried)
            go = _condition(condition(tree.unflatten(form, values)))
            trace.end_region("scf.condition", [go, *(trace.number(value) for value in values)])
        with trace.region(types) as numbers:
            made = _iterate(body, numbers, carried, form)
            trace.end_region("scf.yield", [trace.number(value) for value in made])
        operands = [trace.number(value) for value in carried]
        return tree.unflatten(form, _wrapped(trace.create("scf.while", operands, (), types, 2), carried))


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
    count = _count_steps(inputs, length)

    def step(at: Any, carry: Any) -> tuple[Any, Any]:
        made = body(carry, tree.unflatten(form, [value[at] for value in inputs]))
        if not isinstance(made, tuple) or len(made) != 2:
            raise TracingError(f"a step of scan gives (carry, y), got {type(made).__name__}")
        return made

    values, form_of_carry = _carried(init, lambda carry: step(constant_index(0), carry)[0])
    init = tree.unflatten(form_of_carry, values)
    # What a step gives, to know the types of ys.
    shapes, its = _types_of(lambda carry: step(constant_index(0), carry)[1], init)
    buffers = [full((count, *shape), 0, element) for shape, element in shapes]

    def iterate(index: Any, state: Any) -> tuple[Any, list[Tensor]]:
        carry, ys = state
        at = ((count - 1) - index).natural() if reverse else index
        carry, y = step(at, carry)
        found, form_of_y = tree.flatten(y)
        if form_of_y != its:
            raise TracingError("scan: the steps give trees of different structure")
        return carry, [buffer.at[at].set(one) for buffer, one in zip(ys, found)]

    carry, ys = fori_loop(0, count, iterate, (init, buffers))
    return carry, tree.unflatten(its, ys)


def _count_steps(inputs: Sequence[Tensor], length: Any) -> Any:
    """The number of steps: a traced one where it is dynamic."""
    sizes = [value.shape[0] if value._static else None for value in inputs]
    sizes += [] if length is None else [length]
    numbers = {size for size in sizes if not isinstance(size, Index)}
    if not sizes or None in numbers or len(numbers) > 1:
        raise TracingError(
            "scan needs one number of steps: the leading sizes of xs and `length` are "
            f"{', '.join('traced' if isinstance(size, Index) else str(size) for size in sizes) or 'missing'}"
        )
    return numbers.pop() if numbers else sizes[0]


def _types_of(
    function: Callable[..., Any], *arguments: Any
) -> tuple[list[tuple[tuple[Any, ...], str]], tree.Structure]:
    """(shape, element type) of the results of a function, and their structure."""
    with _probe(function, *arguments) as (given, traced):
        around = [*given.values, *traced.function.captures]
        find = current().native.find_size
        sizes = [
            [find(value._number, axis) if size is None else [(size, -1, -1)] for axis, size in enumerate(value._static)]
            for value in traced.results
        ]
    shapes = [
        (tuple(_outer_size(origins, around, value) for origins in its), value.element_type)
        for value, its in zip(traced.results, sizes)
    ]
    return shapes, traced.form


def _outer_size(origins: Sequence[tuple[int, int, int]], around: Sequence[Any], value: Tensor) -> Any:
    """A size that a function takes from its arguments, outside of it: the first one that is not 1."""
    sizes: list[Any] = []
    for number, argument, dimension in origins:
        if number < 0:
            number = around[argument] if dimension < 0 else around[argument].shape[dimension]
        if not any(number is size for size in sizes):
            sizes.append(number)
    if not sizes:
        raise TracingError(
            f"scan: a step gives {value}, a size of which is computed in the step; give ys whose sizes are known before it"
        )
    found = sizes.pop()
    while sizes:
        first = sizes.pop()
        found = first.or_if_one(found) if isinstance(first, Index) else found if first == 1 else first
    return found


# The host.


def feed(name: str, spec: Spec, sizes: Sequence[Any] = ()) -> Tensor:
    """The next tensor of a stream of the host, which a call gives in `feeds`. `sizes` are the dynamic sizes of the spec,
    in their order; those with the names of sizes of arguments are known."""
    from . import ops

    if not isinstance(spec, Spec):
        raise TracingError(f"expected adjoint.spec(...) as the type of the feed {name!r}, got {type(spec).__name__}")
    dynamic = [size for size in spec.shape if not isinstance(size, int)]
    known = current().sizes
    given = list(sizes) if sizes else [known[size] for size in dynamic if size in known]
    if len(given) != len(dynamic):
        raise TracingError(
            f"the feed {name!r} of {spec} has the dynamic sizes {', '.join(map(str, dynamic))}, which are no sizes of "
            "arguments; give them with sizes=(...)"
        )
    return ops.feed(given, name=name, type=spec)


def receive(name: str, *values: Any) -> None:
    """Passes tensors to the host: to the function that a call gives in `receives`."""
    from . import ops

    ops.receive(as_tensors(values, f"values of the receiver {name!r}"), name=name)
    current().has_receivers = True


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
