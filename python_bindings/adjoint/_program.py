# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Compiled programs."""

from __future__ import annotations

import atexit
import dataclasses
import os
import pathlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _adjoint
from ._arrays import check_device_array, from_storage, prepare, prepare_output
from ._device import DEVICE_TARGETS, DeviceArray, is_foreign, on_host, share
from ._errors import ArgumentMemoryError, ArgumentTypeError, Error, OptionError, Source, make_exception
from ._files import whole_file
from ._host import Feed, Receiver, check_names, feed_functions, receive_functions
from ._options import check_option
from ._results import results_type
from ._signature import STORAGE, Signature, TensorSpec, format_type, make_signature
from ._stages import Picture, Report, lowered, make_report, memory_picture

# Daemon threads may be inside a program when Python ends.
atexit.register(_adjoint.end_threads)


class Program:
    """A compiled program: a function of arrays. Several threads may call it at the same time."""

    def __init__(self, native: _adjoint.Program, source: Source, options: _adjoint.Options | None):
        """Programs come from `compile`, and without options from `load`."""
        self._native = native
        self._run = native.run  # looked up once, for short calls
        self._source = source
        self._options = options
        self.target: str = native.target
        self.numerics: str = native.numerics
        #: The CPU that it was compiled for; empty for the reference interpreter.
        self.cpu: str = native.cpu
        #: "hit" or "miss" of the cache of compiled programs, or "off".
        self.cache_use: str = native.cache_use
        self.signature: Signature = make_signature(native.interface)
        #: Values of arguments that a loaded file has, by their names.
        self.bound: dict[str, np.ndarray] = {
            name: value if spec.element_type not in STORAGE else from_storage(value, spec)
            for name, value in native.bound
            for spec in self.signature.arguments
            if spec.name == name
        }
        self._results = results_type(tuple(spec.name for spec in self.signature.results))
        self._has_device = self.target in DEVICE_TARGETS
        #: Whether results of the extension module are not yet those of users.
        self._converts = self._has_device or any(spec.element_type in STORAGE for spec in self.signature.results)
        for message in native.messages:
            if message[0] == "warning":
                warnings.warn(str(source.diagnostic(message)), RuntimeWarning, stacklevel=3)

    def __call__(
        self,
        /,
        *arrays: object,
        feeds: Mapping[str, Feed] | None = None,
        receives: Mapping[str, Receiver] | None = None,
        out: Any = None,
        **named: object,
    ) -> Any:
        """Runs the program once on arrays given in order or by name.

        Arguments are NumPy arrays of the signature's element types, or objects of the DLPack protocol in CPU memory;
        row-major ones are not copied. A Python number may be given for a tensor of rank 0. One result is a new array,
        several results are a named tuple, and none is None. An array for a donated argument is updated and returned as
        the result. After an error its content is undefined.

        A program for a device takes device arrays (`device_put`) and other libraries' arrays on that device without a
        copy. If one is given, results are device arrays, and those of donated ones have their memory.

        `out` has the arrays that results are written to: an array for the only result, a sequence with an array or None
        for each result, or a mapping from names of results to arrays. They are returned as the results.

        `feeds` has the source of each feed by name: a function that is called with the shape, or an iterable, e.g. an
        array, which is consumed along its first axis. `receives` has functions by name that are called with received
        values. An exception that they raise stops the program and is raised by this call.

        Raises ArgumentTypeError, ArgumentShapeError and ArgumentMemoryError before the program runs (the shape of an
        output whose result has dynamic sizes is compared after the run), ProgramError and CheckError when it fails,
        KeyboardInterrupt at its next iteration after Ctrl-C.
        """
        if named or len(arrays) != len(self.signature.arguments):
            arrays = self._in_order(arrays, named)
        feed = feed_functions(self.signature, feeds or {}) if feeds or self.signature.feeds else {}
        receive = receive_functions(self.signature, receives) if receives else {}
        outputs = self._outputs(out) if out is not None else ()
        memory = tuple(map(_output_memory, self.signature.results, outputs))
        results = self._run(arrays, self._prepare, feed, receive, memory, self._conflict, False)
        if isinstance(results, _adjoint.Failure):
            raise make_exception(results, self._source, self.signature.entry, self._describe_dynamic(arrays))
        return self._results_of(results, outputs)

    def call(
        self, arrays: tuple[object, ...], feeds: Mapping[str, Feed] | None, receives: Mapping[str, Receiver] | None
    ) -> list[Any]:
        """The results of a call with all arguments in order, as a list: device arrays if the program has a device."""
        feed = feed_functions(self.signature, feeds or {}) if feeds or self.signature.feeds else {}
        receive = receive_functions(self.signature, receives) if receives else {}
        results = self._run(
            arrays,
            self._prepare,
            feed,
            receive,
            (None,) * len(self.signature.results),
            self._conflict,
            self._has_device,
        )
        if isinstance(results, _adjoint.Failure):
            raise make_exception(results, self._source, self.signature.entry, self._describe_dynamic(arrays))
        return self._arrays_of(results) if self._converts else results

    def _arrays_of(self, results: list[Any]) -> list[Any]:
        """The arrays of what the extension module returns."""
        if self._has_device:
            results = [DeviceArray(one) if isinstance(one, _adjoint.DeviceTensor) else one for one in results]
        return list(map(from_storage, results, self.signature.results))

    def _results_of(self, results: list[Any], outputs: tuple[Any, ...] = ()) -> Any:
        """What a call returns for arrays of the extension module."""
        if self._converts:
            results = self._arrays_of(results)
        if outputs:
            results = [made if given is None else given for made, given in zip(results, outputs)]
        if len(results) == 1:
            return results[0]
        return self._results(*results) if results else None

    def _calls(
        self,
        arrays: tuple[object, ...],
        named: dict[str, object],
        feeds: Mapping[str, Feed] | None,
        receives: Mapping[str, Receiver] | None,
    ) -> tuple[_adjoint.Program, _adjoint.CallInputs, Callable[[_adjoint.Failure], Error]]:
        """See make_call."""
        if named or len(arrays) != len(self.signature.arguments):
            arrays = self._in_order(arrays, named)
        feed = feed_functions(self.signature, feeds or {}) if feeds or self.signature.feeds else {}
        receive = receive_functions(self.signature, receives) if receives else {}

        def prepare_unchanged(index: int, value: object, copy: bool) -> np.ndarray:
            return prepare(dataclasses.replace(self.signature.arguments[index], donated_to=None), value, copy=copy)

        def failed(failure: _adjoint.Failure) -> Error:
            return make_exception(failure, self._source, self.signature.entry, self._describe_dynamic(arrays))

        source, options = self._text_and_options()
        given = tuple(map(on_host, arrays))
        inputs = _adjoint.CallInputs(source.text, source.name, options, given, prepare_unchanged, feed, receive)
        return self._native, inputs, failed

    def _text_and_options(self) -> tuple[Source, _adjoint.Options]:
        """What the program was compiled from; a file of `load` does not have it."""
        if self._options is None:
            raise OptionError(f"{self._source.name!r} is compiled: it has no text; use the program that it comes from")
        return self._source, self._options

    @property
    def text(self) -> str:
        """The program in the `ad` dialect, as it was given."""
        return self._text_and_options()[0].text.decode(errors="replace")

    def lowered(self, stage: str) -> str:
        """The program after a stage of the compiler, with those before it: "frontend", "fusion", "kernels" or "code";
        or after the passes that `stage` names in the syntax of `ad-opt --pass-pipeline`. Code is that for vectors of 64
        bytes, and for the oldest GPU."""
        return lowered(*self._text_and_options(), stage)

    def memory_picture(self) -> Picture:
        """The plan of the memory, which buffers share it and when: a picture that notebooks show."""
        return memory_picture(*self._text_and_options())

    def report(self) -> Report:
        """The numerics permissions that rewrites used, and the time that each stage and pass took."""
        return make_report(self._native)

    def save(self, path: str | os.PathLike[str], bound: Mapping[str, object] | None = None) -> None:
        """Writes the program: its text to a name that ends with .mlir, and compiled for its target to one that ends with
        .adx, which `adrt-run` and `adjoint.load` run without the compiler. `bound` has values of arguments by name, such
        as trained weights, that the compiled file contains. Files are written whole or not at all."""
        source, options = self._text_and_options()
        target = pathlib.Path(path)
        if target.suffix == ".mlir" and not bound:
            with whole_file(target) as file:
                file.write(source.text)
        elif target.suffix == ".adx":
            self._write(target, source, options, bound or {})
        else:
            raise OptionError(
                f"expected a name that ends with {'.mlir or ' * (not bound)}.adx, got {str(target)!r}"
                + "; only compiled files have values of arguments" * bool(bound)
            )

    def _write(
        self, path: pathlib.Path, source: Source, options: _adjoint.Options, bound: Mapping[str, object]
    ) -> None:
        names = [spec.name for spec in self.signature.arguments]
        check_names("argument", dict(bound), names)
        indices = [index for index, name in enumerate(names) if name in bound]
        failure = _adjoint.write(
            self._native,
            source.text,
            source.name,
            options,
            indices,
            tuple(on_host(bound[names[index]]) for index in indices),
            lambda index, value, copy: self._prepare(indices[index], value, copy),
            os.fspath(path),
        )
        if failure is not None:
            raise make_exception(failure, source)

    def _describe_dynamic(self, arrays: tuple[object, ...]) -> str:
        """The given types of the arguments of dynamic size, for errors about sizes."""
        given = [
            f"{spec.name}: {format_type(spec.element_type, tuple(getattr(array, 'shape', ())))}"
            for spec, array in zip(self.signature.arguments, arrays)
            if None in spec.shape
        ]
        return ", ".join(given[:8] + ["..."] * (len(given) > 8))

    def _prepare(self, index: int, value: object, copy: bool) -> np.ndarray | DeviceArray:
        """Takes what the extension module does not: an array of the host, or on the device of the program."""
        spec = self.signature.arguments[index]
        if is_foreign(value, self.target):
            value = share(value, self.target)
        if not isinstance(value, DeviceArray):
            return prepare(spec, value, copy=copy)
        check_device_array(spec, value, self.target)
        return value

    def _conflict(self, result: int, argument: int, other: int) -> None:
        """Raises for an output that overlaps an argument, or another output if `argument` is -1."""
        spec = self.signature.results[result]
        if argument < 0:
            overlapped = f"output '{self.signature.results[other].name}'"
        else:
            overlapped = f"argument '{self.signature.arguments[argument].name}'"
        raise ArgumentMemoryError(
            f"output '{spec.name}': expected memory of its own, got an array that overlaps {overlapped}"
        )

    def _outputs(self, out: Any) -> tuple[Any, ...]:
        """One array or None per result."""
        specs = self.signature.results
        if isinstance(out, Mapping):
            check_names("result", dict(out), [spec.name for spec in specs])
            return tuple(out.get(spec.name) for spec in specs)
        given = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if len(given) != len(specs):
            names = f" ({', '.join(spec.name for spec in specs)})" if specs else ""
            plural = "s" * (len(specs) != 1)
            raise ArgumentTypeError(f"expected {len(specs)} output{plural}{names}, got {len(given)}")
        return given

    def _in_order(self, arrays: tuple[object, ...], named: dict[str, object]) -> tuple[Any, ...]:
        """All arguments. Those by position are the ones that the file of the program has no value for."""
        check_names("argument", named, [spec.name for spec in self.signature.arguments])
        specs = [spec for spec in self.signature.arguments if spec.name not in self.bound]
        if len(arrays) > len(specs):
            listed = f" ({', '.join(spec.name for spec in specs)})" if specs else ""
            plural = "s" * (len(specs) != 1)
            raise ArgumentTypeError(f"expected {len(specs)} argument{plural}{listed}, got {len(arrays)}")
        given = {spec.name: array for spec, array in zip(specs, arrays)}
        for name in given:
            if name in named:
                raise ArgumentTypeError(f"argument {name!r} is given twice")
        # A donated argument is overwritten; the value of the file stays.
        bound = {
            spec.name: self.bound[spec.name] if spec.donated_to is None else self.bound[spec.name].copy()
            for spec in self.signature.arguments
            if spec.name in self.bound and spec.name not in named
        }
        given = {**bound, **given, **named}
        for spec in specs:
            if spec.name not in given:
                raise ArgumentTypeError(f"argument {spec.name!r} of type {spec.type} is missing")
        return tuple(given[spec.name] for spec in self.signature.arguments)

    def __repr__(self) -> str:
        return f"<adjoint.Program {self.signature} for {self.target}, {self.numerics}>"


def make_call(
    program: Program,
    arrays: tuple[object, ...],
    named: dict[str, object],
    feeds: Mapping[str, Feed] | None,
    receives: Mapping[str, Receiver] | None,
) -> tuple[_adjoint.Program, _adjoint.CallInputs, Callable[[_adjoint.Failure], Error]]:
    """A call for functions that compile and run the program in another way, and what raises their failures."""
    check_option("program", program, Program)
    return program._calls(arrays, named, feeds, receives)


def _output_memory(spec: TensorSpec, value: object) -> np.ndarray | None:
    return None if value is None else prepare_output(spec, value)
