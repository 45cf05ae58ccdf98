# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of Python that are traced, compiled and called."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _adjoint, tree
from ._builder import Trace, is_tracing, quoted, tracing
from ._errors import ArgumentShapeError, ArgumentTypeError, OptionError, Source, TracedSource, TracingError
from ._files import whole_file
from ._functions import Traced, call, is_value, name_of, trace_function
from ._host import Feed, Receiver, check_names
from ._program import Program, compile, make_options
from ._stages import Picture, Report, lowered, memory_picture
from ._tensor import Index, Tensor
from ._types import Spec, element_of
from .nn._module import Module, flatten_module

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
)


def _spec_of(leaf: Any) -> Spec:
    if isinstance(leaf, Spec):
        return leaf
    if isinstance(leaf, Tensor):
        return Spec(tuple("?" if size is None else size for size in leaf._static), leaf.element_type)
    if type(leaf) is float:
        return Spec((), "f64", is_weak=True)
    if type(leaf) is int:
        return Spec((), "i64", is_weak=True)
    array = leaf if isinstance(leaf, (np.ndarray, np.generic)) else np.asarray(leaf)
    return Spec(array.shape, element_of(array.dtype))


def _is_dynamic(leaf: Any) -> bool:
    return is_value(leaf) or isinstance(leaf, Spec) or hasattr(type(leaf), "__dlpack__")


class TracedProgram:
    """A function that was traced for arguments of certain types, compiled when it is first called."""

    def __init__(
        self,
        text: str,
        located: str,
        results: tree.Structure,
        form: tree.Structure,
        static: dict[int, Any],
        specs: list[Spec],
        names: Sequence[str],
        name: str,
        options: dict[str, Any],
    ):
        #: The program in the `ad` dialect.
        self.text = text
        self._located = located
        self._results, self._form, self._static, self._specs = results, form, static, specs
        self._names, self._name, self._options = names, name, options
        self._shared = _SharedSizes(specs)

    @functools.cached_property
    def program(self) -> Program:
        """The compiled program, a function of the leaves."""
        return compile(self._located, name=self._name, source_type=TracedSource, **self._options)

    def run(
        self,
        leaves: Sequence[Any],
        feeds: Mapping[str, Feed] | None = None,
        receives: Mapping[str, Receiver] | None = None,
    ) -> Any:
        self._shared.check(leaves)
        results = self.program.call(tuple(leaves), feeds, receives)
        return tree.unflatten(self._results, results)

    def __call__(
        self,
        *arguments: Any,
        feeds: Mapping[str, Feed] | None = None,
        receives: Mapping[str, Receiver] | None = None,
        **keywords: Any,
    ) -> Any:
        """Runs the program on arguments of the types that it was traced for."""
        leaves, form = tree.flatten((arguments, keywords))
        if form != self._form:
            raise ArgumentTypeError("expected arguments in the trees that the program was traced for")
        return self.run([leaf for index, leaf in enumerate(leaves) if index not in self._static], feeds, receives)

    def save(self, path: str | os.PathLike[str], bound: Mapping[str, Any] | None = None) -> None:
        """Writes the program: as text to a name that ends with .mlir, compiled to one that ends with .adx, which
        `adrt-run` and `adjoint.load` run. `bound` has values of parameters by name, such as a trained model, that the
        compiled file contains."""
        if bound is None and os.fspath(path).endswith(".mlir"):
            with whole_file(pathlib.Path(path)) as file:
                file.write(self.text.encode())
            return
        self.program.save(path, self._leaves_of(bound or {}))

    def _leaves_of(self, bound: Mapping[str, Any]) -> dict[str, Any]:
        """The values of leaves, by the names of the program's arguments."""
        known = list(dict.fromkeys(name.split(".")[0] for name in self._names))
        check_names("parameter", bound, known)
        found: dict[str, Any] = {}
        for name, value in bound.items():
            leaves = [leaf for leaf in tree.leaves(value) if _is_dynamic(leaf)]
            places = [index for index, one in enumerate(self._names) if one.split(".")[0] == name]
            if len(leaves) != len(places):
                raise ArgumentTypeError(
                    f"expected {name} as a tree of {len(places)} tensors, as the program was traced, got {len(leaves)}"
                )
            found.update((self.program.signature.arguments[index].name, leaf) for index, leaf in zip(places, leaves))
        return found

    def lowered(self, stage: str) -> str:
        """The program after a stage, as adjoint.Program.lowered."""
        return lowered(self._source_text, self._native_options, stage)

    def memory_picture(self) -> Picture:
        """The plan of the memory, which buffers share it and when: a picture that notebooks show."""
        return memory_picture(self._source_text, self._native_options)

    def report(self) -> Report:
        """The numerics permissions that rewrites used, and the time that each stage and pass took."""
        return self.program.report()

    @property
    def _source_text(self) -> Source:
        return TracedSource(self._located.encode(errors="surrogatepass"), self._name)

    @property
    def _native_options(self) -> _adjoint.Options:
        return make_options(**self._options)

    def __reduce__(self) -> Any:
        return TracedProgram, (
            self.text,
            self._located,
            self._results,
            self._form,
            self._static,
            self._specs,
            self._names,
            self._name,
            self._options,
        )

    def __repr__(self) -> str:
        return f"<adjoint.TracedProgram {self._name}>"

    def _repr_markdown_(self) -> str:
        return f"```mlir\n{self.text}```"


class _SharedSizes:
    """Sizes of one name, which have to be equal."""

    def __init__(self, specs: Sequence[Spec]):
        self.places: dict[str, list[tuple[int, int]]] = {}
        for number, spec in enumerate(specs):
            for axis, size in enumerate(spec.shape):
                if isinstance(size, str) and size != "?":
                    self.places.setdefault(size, []).append((number, axis))

    def check(self, leaves: Sequence[Any]) -> None:
        for name, places in self.places.items():
            sizes = {np.shape(leaves[number])[axis] for number, axis in places if np.ndim(leaves[number]) > axis}
            if len(sizes) > 1:
                raise ArgumentShapeError(f"the size {name} is {' and '.join(map(str, sorted(sizes)))}")


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
        self._is_positional = (
            all(
                parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
                for parameter in self._signature.parameters.values()
            )
            and not static
            and specs is None
        )
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
        if not keywords and self._is_positional:
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
                    self._known[key] = program, _order(arguments, tree.structure(arguments))
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
        if keywords or not self._is_positional:
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
        self._bind(arguments, keywords)
        names = self._names(arguments, keywords)
        is_static = [name.split(".")[0] in self._static or not _is_dynamic(leaf) for name, leaf in zip(names, leaves)]
        specs = self._specs(arguments, leaves, is_static)
        static = {index: leaf for index, leaf in enumerate(leaves) if is_static[index]}
        moving = [leaf for index, leaf in enumerate(leaves) if not is_static[index]]
        try:
            key: Any = (form, tuple(specs), tuple((index, type(value), value) for index, value in static.items()))
            hash(key)
        except TypeError as error:
            raise ArgumentTypeError(
                f"{self.__name__}: a static argument is compared, but {error}; arrays and numbers "
                "are traced, other values are static"
            ) from None
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._trace(
                form, static, specs, [name for index, name in enumerate(names) if not is_static[index]]
            )
        if (
            not static
            and not keywords
            and all(type(leaf) is np.ndarray for leaf in leaves)
            and self._given_specs is None
        ):
            self._programs[form, tuple([(leaf.shape, leaf.dtype) for leaf in leaves])] = program
        return program, moving

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

    def _specs(self, arguments: tuple[Any, ...], leaves: Sequence[Any], is_static: Sequence[bool]) -> list[Spec]:
        """The types of the traced leaves: those that the decorator gives, else those of the arguments."""
        own = [_spec_of(leaf) for leaf, static in zip(leaves, is_static) if not static]
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
            _share_sizes(values, specs, trace.sizes)
            for value, spec in zip(values, specs):
                value.is_weak = spec.is_weak
            moving = iter(values)
            leaves = [static[index] if index in static else next(moving) for index in range(form.count())]
            arguments, keywords = tree.unflatten(form, leaves)
            return self._function(*arguments, **keywords)

        with tracing(trace):
            traced = trace_function("main", [str(spec) for spec in specs], body, is_entry=True)
        if not traced.results and not trace.has_receivers:
            raise TracingError(f"{self.__name__} gives no tensor; return the results")
        _name(trace, traced, names, self._donations(names, specs, traced))
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


def _names_of(value: Any, prefix: str) -> Iterator[str]:
    """The names of leaves in the order of `_adjoint.signature`: dicts as they are."""
    items: Any
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    elif isinstance(value, Module):
        children, _, names = flatten_module(value)
        items = zip(names, children)
    elif value is None:
        return
    else:
        yield prefix
        return
    for name, child in items:
        yield from _names_of(child, f"{prefix}.{name}" if prefix else str(name))


def _order(arguments: tuple[Any, ...], form: tree.Structure) -> list[int] | None:
    """Where the leaves of `tree.flatten` are among those of `_adjoint.signature`; None if the order is the same. Raises
    LookupError if two leaves have one name."""
    names, here = tree.names(form), list(_names_of(arguments, ""))
    if names == here:
        return None
    at = {name: index for index, name in enumerate(here)}
    if len(at) != len(names) or len(names) != len(here):
        raise LookupError
    return [at[name] for name in names]


def _share_sizes(values: Sequence[Tensor], specs: Sequence[Spec], known: dict[str, Index]) -> None:
    """Sizes of one name are one value."""
    for value, spec in zip(values, specs):
        for axis, size in enumerate(spec.shape):
            if isinstance(size, str) and size != "?":
                if size in known:
                    value._sizes[axis] = known[size]
                else:
                    known[size] = value._size(axis)


def _identifier(name: str) -> str:
    cleaned = "".join(character if character.isalnum() or character in "_." else "_" for character in name)
    return cleaned if cleaned and not cleaned[0].isdigit() else f"result{'_' if cleaned else ''}{cleaned}"


def _name(trace: Trace, traced: Traced, names: Sequence[str], donations: dict[int, int]) -> None:
    """Gives arguments and results the names of Python."""
    native = trace.native
    for number, name in enumerate(_unique(names)):
        native.set_argument_attribute("main", number, "ad.name", quoted(name))
        if number in donations:
            native.set_argument_attribute("main", number, "ad.donated", f"{donations[number]} : i64")
    for number, name in enumerate(_unique(tree.names(traced.form))):
        native.set_result_attribute("main", number, "ad.name", quoted(name))


def _unique(names: Sequence[str]) -> Iterator[str]:
    used: set[str] = set()
    for name in names:
        made = _identifier(name)
        while made in used:
            made += "_"
        used.add(made)
        yield made


def jit(
    function: Callable[..., Any] | None = None,
    *,
    target: str = "cpu",
    numerics: str | None = None,
    precision: str | None = None,
    threads: int | None = None,
    kernels: Mapping[str, str] | None = None,
    cpu: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    optimize: bool = True,
    static_argnames: str | Sequence[str] = (),
    static_argnums: int | Sequence[int] = (),
    donate_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    specs: Sequence[Any] | None = None,
) -> Any:
    """Compiles a function of tensors. It is traced when it is called with arguments of new types.

    Arguments and results are trees (adjoint.tree) of arrays and numbers. Other values, and the parameters that
    `static_argnames` and `static_argnums` choose, are constants of the program, which is traced again for other ones. The
    memory of arguments that `donate_argnames` and `donate_argnums` choose is reused for results. `specs` has the types of all arguments, a tree for each; sizes
    may be dynamic there (adjoint.spec). The other options are those of adjoint.compile.
    """
    options = {
        "target": target,
        "numerics": numerics,
        "precision": precision,
        "threads": threads,
        "kernels": kernels,
        "cpu": cpu,
        "cache": cache,
        "optimize": optimize,
    }

    def wrap_function(one: Callable[..., Any]) -> Jitted:
        if not callable(one):
            raise OptionError(f"expected a function, got {type(one).__name__}")
        static = _as_names(one, static_argnames, static_argnums)
        return Jitted(one, options, static, _as_names(one, donate_argnames, donate_argnums), specs)

    return wrap_function if function is None else wrap_function(function)


def _as_names(
    function: Callable[..., Any], names: str | Sequence[str], numbers: int | Sequence[int]
) -> tuple[str, ...]:
    """The names of parameters, which their numbers may choose, too."""
    parameters = list(inspect.signature(function).parameters)
    chosen = [names] if isinstance(names, str) else list(names)
    for number in [numbers] if isinstance(numbers, int) else numbers:
        if not -len(parameters) <= number < len(parameters):
            raise OptionError(f"{name_of(function)} has {len(parameters)} parameters, and no number {number}")
        chosen.append(parameters[number])
    return tuple(chosen)
