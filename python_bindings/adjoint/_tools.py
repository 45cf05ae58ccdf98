# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs `ad-diff`, for the searches that start other processes, and reads its reports."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._commands import FOLDER
from ._errors import OptionError, OptionTypeError, ToolError
from ._options import check_option

_Path = str | os.PathLike[str]
#: An array, or the text of a source, such as "normal:1" or the name of a .npy file.
Input = np.ndarray | str
#: The largest allowed differences, by the name of their measure; a number is one of l2.
Bound = Mapping[str, float] | float
#: What a bound may name: of tensors, and of the values of runs.
TENSOR_MEASURES = ("l2", "max", "abs", "rel", "ulp")
RUNS_MEASURES = (*TENSOR_MEASURES, "different")
_TOOL = "ad-diff"


class Tool:
    """`ad-diff`, with a folder for what it reads and writes, which is removed at the end."""

    def __init__(self, tools: _Path | None):
        self._path = find_tool(_TOOL, tools)

    def __enter__(self) -> Tool:
        self._folder = tempfile.TemporaryDirectory(prefix="adjoint-")
        self._root = pathlib.Path(self._folder.name)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def program(self, source: str | bytes | _Path, name: str | None) -> str:
        """The name of the file of a program, which is written if `source` is a text."""
        check_option("name", name, str, optional=True)
        check_option("the program", source, (str, bytes, os.PathLike))
        if isinstance(source, os.PathLike) or (isinstance(source, str) and "\n" not in source and "{" not in source):
            return path_word(source)
        file = self._root / os.path.basename(name or "program.mlir")
        file.write_bytes(source if isinstance(source, bytes) else source.encode(errors="surrogatepass"))
        return str(file)

    def inputs(self, option: str, parameter: str, given: Mapping[str, Input] | None) -> list[str]:
        """The options that name the inputs. Arrays are written."""
        check_option(parameter, given, Mapping, optional=True)
        words = []
        for number, (name, value) in enumerate((given or {}).items()):
            check_option(f"the names in {parameter}", name, str)
            if "=" in name:
                raise OptionError(f"expected names without '=' in {parameter}, got {name!r}")
            if not isinstance(value, str):
                file = self._root / f"{option}{number}.npy"
                np.save(file, _numbers(parameter, name, value), allow_pickle=False)
                value = str(file)
            words.append(f"--{option}={name}={value}")
        return words

    def run(self, command: str, words: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """The text and the JSON of the report."""
        if any("\0" in word for word in words):
            raise OptionError(f"expected options, names and paths without null characters, got {list(words)!r}")
        report = self._root / "report.json"
        # Signals end the tool after it has removed its own files and processes.
        with subprocess.Popen(
            [self._path, command, *words, f"--json={report}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="backslashreplace",
        ) as process:
            try:
                text, messages = process.communicate()
            except BaseException:
                process.send_signal(signal.SIGTERM)
                process.wait()
                raise
        text, messages = (self._without_folder(part) for part in (text, messages))
        for message in re.findall(rf"^{_TOOL}: warning: (.*)$", messages, re.MULTILINE):
            warnings.warn(message, RuntimeWarning, stacklevel=4)
        if not report.exists():
            raise ToolError(messages.strip() or f"{self._path} ended with exit code {process.returncode}")
        return text.rstrip("\n"), json.loads(self._without_folder(report.read_text()))

    def _without_folder(self, text: str) -> str:
        return text.replace(f"{self._root}/", "")


def _numbers(parameter: str, name: str, value: object) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise OptionTypeError(f"expected {parameter} as arrays of numbers, got {type(value).__name__} for {name!r}")
    return array


def path_word(path: _Path) -> str:
    """A path as a word of a command line, where options begin with a dash."""
    text = os.fsdecode(path)
    return os.path.join(os.curdir, text) if text.startswith("-") else text


def find_tool(name: str, tools: _Path | None = None) -> str:
    """The path of a program of Adjoint: in the folder `tools`, in the package, or on PATH."""
    if tools is not None:
        check_option("tools", tools, (str, os.PathLike))
        path = os.path.join(os.fsdecode(tools), name)
        if not os.access(path, os.X_OK):
            raise ToolError(f"{os.fsdecode(tools)!r} has no program {name}; expected the folder bin of an Adjoint")
        return path
    own = FOLDER / name
    found = str(own) if os.access(own, os.X_OK) else shutil.which(name)
    if found is None:
        raise ToolError(
            f"the program {name} is not on PATH, and this package does not contain it: install a wheel of Adjoint, or "
            "add the folder bin of an Adjoint to PATH or give it as tools="
        )
    return found


def words_of(name: str, options: str | Sequence[str]) -> str:
    """Options as the text that ad-diff divides into words."""
    if isinstance(options, str):
        _split(name, options)
        return options
    if not isinstance(options, Sequence) or not all(isinstance(word, str) for word in options):
        raise OptionTypeError(f"expected {name} as str or as a sequence of str, got {options!r}")
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in options)


def option_words(options: str | Sequence[str]) -> list[str]:
    """The options of both sides."""
    return _split("options", words_of("options", options))


def _split(name: str, options: str) -> list[str]:
    try:
        return shlex.split(options)
    except ValueError as error:  # a quotation mark without another one
        raise OptionError(f"expected {name} as words of a command line, got {options!r}: {error}") from error


def bound_text(bound: Bound, allowed: Sequence[str]) -> str:
    """The value of --bound. A number alone is a bound of l2."""
    if isinstance(bound, (int, float, np.number)) and not isinstance(bound, bool):
        bound = {"l2": bound}
    if not isinstance(bound, Mapping) or not bound or not set(bound) <= set(allowed):
        raise OptionError(f"expected bound with {', '.join(allowed)}, such as {{'{allowed[0]}': 0.01}}, got {bound!r}")
    for value in bound.values():
        check_option("bound", value, (int, float, np.number))
        if not value >= 0:
            raise OptionError(f"expected bound with numbers that are not negative, got {bound!r}")
    return ",".join(f"{key}={float(value)!r}" for key, value in bound.items())


def bound_words(bound: Bound | None, allowed: Sequence[str]) -> list[str]:
    """The option --bound."""
    return [] if bound is None else [f"--bound={bound_text(bound, allowed)}"]
