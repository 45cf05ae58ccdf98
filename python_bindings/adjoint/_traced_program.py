# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions that were traced for arguments of certain types."""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from . import _adjoint, tree
from ._compile import compile
from ._errors import ArgumentTypeError, Source, TracedSource
from ._files import whole_file
from ._host import Feed, Receiver, check_names
from ._options import make_options
from ._program import Program
from ._specs import SharedSizes, is_dynamic
from ._stages import Picture, Report, lowered, memory_picture
from ._types import Spec


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
        self._shared = SharedSizes(specs)

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
            leaves = [leaf for leaf in tree.leaves(value) if is_dynamic(leaf)]
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
