# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of Python that are traced, compiled and called."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _adjoint, tree
from ._builder import Trace, is_tracing, tracing
from ._device import DEVICE_TARGETS, DeviceArray, is_foreign, share
from ._errors import ArgumentTypeError, OptionError, TracingError
from ._functions import Traced, call, name_of, trace_function
from ._host import Feed, Receiver
from ._jit_options import JittedOptions, check_jit_options, check_specs, names_of_parameters
from ._names import name_values, order_of_leaves
from ._options import JitOptions, with_options
from ._recursion import ended_recursion
from ._specs import is_dynamic, named_spec, refuse_long_lists, share_sizes
from ._traced_program import TracedProgram
from ._types import Spec
from .nn._module import Module

if TYPE_CHECKING:
    from typing import Unpack  # since Python 3.11

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)


_SIMPLE = (bool, int, float, str)


def _state(value: Any) -> tuple[Any, ...]:
    """The attributes of an object that are numbers and texts, if it is compared by its identity: they may change."""
    if isinstance(value, type) or getattr(type(value), "__hash__", None) is not object.__hash__:
        return ()
    attributes = getattr(value, "__dict__", {}).items()
    return tuple((name, type(one), one) for name, one in attributes if one is None or isinstance(one, _SIMPLE))


class Jitted:
    """A function that is traced and compiled for each combination of types that it is called with."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        static: tuple[str, ...],
        donated: tuple[str, ...],
        specs: Sequence[Any] | None,
    ):
        functools.update_wrapper(self, function)
        self.__name__ = name_of(function)
        self._function, self._options = function, options
        self._static, self._donated, self._given_specs = static, donated, specs
        self._signature = inspect.signature(function)
        # Without keywords, arguments are bound as they are given.
        self._is_plain = not static and specs is None
        self._programs: dict[Any, TracedProgram] = {}
        # By the key of `_adjoint.signature`, with the order of its leaves; programs hold what keys point to.
        self._known: dict[bytes, tuple[TracedProgram, list[int] | None]] = {}
        for name in (*static, *donated):
            if name not in self._signature.parameters:
                raise OptionError(
                    f"{self.__name__} has no parameter {name!r}; it has "
                    f"{', '.join(self._signature.parameters) or 'none'}"
                )

    def __call__(
        self,
        *arguments: Any,
        feeds: Mapping[str, Feed] | None = None,
        receives: Mapping[str, Receiver] | None = None,
        **keywords: Any,
    ) -> Any:
        if is_tracing():
            if feeds or receives:
                raise TracingError("feeds and receives belong to the call that runs the program, not to one inside of it")
            return self._call_inside(arguments, keywords)
        if not keywords and self._is_plain:
            found = self._find_known(arguments)
            if found is not None:
                return found[0].run(found[1], feeds, receives)
        program, leaves = self._find(arguments, keywords)
        return program.run(leaves, feeds, receives)

    def _find_known(self, arguments: tuple[Any, ...]) -> tuple[TracedProgram, Sequence[Any]] | None:
        """The program and its arguments for trees of types that were there before."""
        found = _adjoint.signature(arguments, Module)
        if found is None:
            return None
        key, leaves = found
        known = self._known.get(key)
        if known is None:
            program, in_order = self._find(arguments, {})
            with contextlib.suppress(LookupError):
                if len(in_order) == len(leaves):
                    self._known[key] = program, order_of_leaves(arguments, tree.structure(arguments))
            return program, in_order
        program, order = known
        return program, leaves if order is None else [leaves[index] for index in order]

    def _call_inside(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call in another traced function. Static arguments are part of the function."""
        if not self._static:
            return call(self._function, arguments, keywords)
        given = self._bind(arguments, keywords).arguments
        fixed = {name: given.pop(name) for name in self._static if name in given}

        @functools.wraps(self._function)
        def rest(**moving: Any) -> Any:
            return self._function(**moving, **fixed)

        return call(rest, (), given)

    def trace(self, *arguments: Any, **keywords: Any) -> TracedProgram:
        """The program for arguments of these types: of arrays, or of adjoint.spec."""
        return self._find(arguments, keywords)[0]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _find(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[TracedProgram, list[Any]]:
        if keywords or not self._is_plain:
            bound = self._bind(arguments, keywords)
            arguments, keywords = bound.args, bound.kwargs
        leaves, form = tree.flatten((arguments, keywords))
        try:
            key: Any = (form, tuple([(leaf.shape, leaf.dtype) for leaf in leaves]))
            program = self._programs.get(key)
            if program is not None:
                return program, leaves
        except (AttributeError, TypeError):
            pass
        return self._find_slowly(arguments, keywords, leaves, form)

    def _bind(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> inspect.BoundArguments:
        try:
            return self._signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise ArgumentTypeError(f"{self.__name__}(): {error}") from None

    def _find_slowly(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any], leaves: list[Any], form: tree.Structure
    ) -> tuple[TracedProgram, list[Any]]:
        target = self._options.get("target")
        if target in DEVICE_TARGETS and any(is_foreign(leaf, target) for leaf in leaves):
            return self._find(
                *tree.unflatten(form, [share(leaf, target) if is_foreign(leaf, target) else leaf for leaf in leaves])
            )
        self._bind(arguments, keywords)
        names = self._names(arguments, keywords)
        is_static = [name.split(".")[0] in self._static or not is_dynamic(leaf) for name, leaf in zip(names, leaves)]
        refuse_long_lists(self.__name__, names, [leaf for leaf, its in zip(leaves, is_static) if not its])
        specs = self._specs(arguments, names, leaves, is_static)
        static = {index: leaf for index, leaf in enumerate(leaves) if is_static[index]}
        moving = [leaf for index, leaf in enumerate(leaves) if not is_static[index]]
        key = self._key(form, specs, static)
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._trace(
                form, static, specs, [name for index, name in enumerate(names) if not is_static[index]]
            )
            # Attributes that the function itself has changed.
            self._programs[self._key(form, specs, static)] = program
        if (
            not static
            and not keywords
            and all(type(leaf) in (np.ndarray, DeviceArray) for leaf in leaves)
            and self._given_specs is None
        ):
            self._programs[form, tuple([(leaf.shape, leaf.dtype) for leaf in leaves])] = program
        return program, moving

    def _key(self, form: tree.Structure, specs: list[Spec], static: dict[int, Any]) -> Any:
        constants = tuple((index, type(value), value, _state(value)) for index, value in static.items())
        key = form, tuple(specs), constants
        try:
            hash(key)
        except TypeError as error:
            raise ArgumentTypeError(
                f"{self.__name__}: a static argument is compared, but {error}; arrays and numbers "
                "are traced, other values are static"
            ) from None
        return key

    def _names(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[str]:
        """A name for each leaf: that of the parameter, and the path in its tree."""
        parameters = list(self._signature.parameters.values())
        found: list[str] = []
        for index, argument in enumerate(arguments):
            at = min(index, len(parameters) - 1)
            while at > 0 and parameters[at].kind not in _POSITIONAL:
                at -= 1
            name = parameters[at].name
            if parameters[at].kind is inspect.Parameter.VAR_POSITIONAL:
                name = f"{name}.{index - at}"
            found += tree.names(tree.structure(argument), name)
        for name in sorted(keywords):
            found += tree.names(tree.structure(keywords[name]), name)
        return found

    def _specs(
        self, arguments: tuple[Any, ...], names: Sequence[str], leaves: Sequence[Any], is_static: Sequence[bool]
    ) -> list[Spec]:
        """The types of the traced leaves: those that the decorator gives, else those of the arguments."""
        own = [
            named_spec(self.__name__, name, leaf) for name, leaf, static in zip(names, leaves, is_static) if not static
        ]
        if self._given_specs is None:
            return own
        if len(self._given_specs) != len(arguments):
            raise ArgumentTypeError(
                f"{self.__name__}: expected {len(self._given_specs)} arguments, as in specs, got {len(arguments)}; "
                "None in specs is the type of the argument"
            )
        given: list[Spec] = []
        for one, argument in zip(self._given_specs, arguments):
            size = len(tree.leaves(argument))
            count = sum(not static for static in is_static[:size])
            its, is_static = own[len(given) : len(given) + count], is_static[size:]
            found = its if one is None else tree.leaves(one)
            if len(found) != count:
                raise ArgumentTypeError(f"{self.__name__}: expected {len(found)} tensors, as in specs, got {count}")
            given += found
        return given

    def _trace(
        self, form: tree.Structure, static: dict[int, Any], specs: list[Spec], names: list[str]
    ) -> TracedProgram:
        trace = Trace()

        def body(values: list[Any]) -> Any:
            share_sizes(values, specs, trace.sizes)
            for value, spec in zip(values, specs):
                value.is_weak = spec.is_weak
            moving = iter(values)
            leaves = [static[index] if index in static else next(moving) for index in range(form.count())]
            arguments, keywords = tree.unflatten(form, leaves)
            return self._function(*arguments, **keywords)

        with tracing(trace), ended_recursion():
            traced = trace_function("main", [str(spec) for spec in specs], body, is_entry=True)
        if not traced.results and not trace.has_receivers:
            raise TracingError(f"{self.__name__} gives no tensor; return the results")
        name_values(trace, traced, names, self._donations(names, specs, traced))
        return TracedProgram(
            trace.native.get_text(False),
            trace.native.get_text(True),
            traced.form,
            form,
            static,
            specs,
            names,
            f"<{self.__name__}>",
            self._options,
        )

    def _donations(self, names: Sequence[str], specs: Sequence[Spec], traced: Traced) -> dict[int, int]:
        """For each donated argument the result that takes its memory: the next one of its type."""
        free = list(range(len(traced.results)))
        found = {}
        for number, (name, spec) in enumerate(zip(names, specs)):
            if name.split(".")[0] not in self._donated:
                continue
            result = next((one for one in free if traced.results[one]._type == str(spec)), None)
            if result is not None:
                found[number] = result
                free.remove(result)
        return found


@overload
def jit(function: Callable[..., Any], **options: Unpack[JittedOptions]) -> Jitted: ...
@overload
def jit(function: None = None, **options: Unpack[JittedOptions]) -> Callable[[Callable[..., Any]], Jitted]: ...
@with_options(JitOptions)
def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnames: str | Sequence[str] = (),
    static_argnums: int | Sequence[int] = (),
    donate_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    specs: Sequence[Any] | None = None,
    **options: Any,
) -> Any:
    """Compiles a function of tensors. It is traced when it is called with arguments of new types.

    Arguments and results are trees (adjoint.tree) of arrays and numbers. Other values, and the parameters that
    `static_argnames` and `static_argnums` choose, are constants of the program, which is traced again for other ones, and
    for other numbers and texts that an object has as attributes. The memory of arguments that `donate_argnames` and
    `donate_argnums` choose is reused for results. `specs` has the types of all arguments, a tree for each; sizes may be
    dynamic there (adjoint.spec). The other options are those of adjoint.compile. Results of a function for a device are
    device arrays, which the next call takes without a copy (adjoint.device_put).
    """
    check_jit_options("jit", options)
    check_specs(specs)

    def wrap_function(one: Callable[..., Any]) -> Jitted:
        if not callable(one):
            raise OptionError(f"expected a function, got {type(one).__name__}")
        static = names_of_parameters(one, static_argnames, static_argnums)
        return Jitted(one, options, static, names_of_parameters(one, donate_argnames, donate_argnums), specs)

    return wrap_function if function is None else wrap_function(function)
