# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Messages use the terms of a Python user: names, shapes, options of Python, locations in the source."""

import pickle
import re

import adjoint
import numpy as np
import programs
import pytest

PRODUCT = """
func.func @main(%x: tensor<?x3xf32> {ad.name = "x"}, %w: tensor<?x2xf32> {ad.name = "w"},
                %s: tensor<f32> {ad.name = "s"}) -> tensor<?x2xf32> {
  %y = ad.dot %x, %w : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
"""

LARGE = """// A row and a column.

  func.func public @outer(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?x?xf32> {ad.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %column = ad.reshape %x(%n) : tensor<?xf32> -> tensor<?x1xf32>
  %y = ad.add %column, %x : tensor<?x1xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}
"""


@pytest.mark.parametrize("name", ["nothing.mlir", "folder/nothing.mlir", "no program"])
def test_missing_files_are_errors_of_the_package(name):
    with pytest.raises(adjoint.MissingFileError) as caught:
        adjoint.compile(name)
    error = caught.value
    assert isinstance(error, adjoint.Error) and isinstance(error, FileNotFoundError) and error.filename == name
    assert str(error).startswith(f"cannot read '{name}': No such file or directory; a string is a program")
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error) and str(twin) == str(error)


def test_other_unreadable_files_are_errors_of_the_package(tmp_path):
    with pytest.raises(adjoint.FileError, match="cannot read '.*': Is a directory") as caught:
        adjoint.compile(tmp_path)
    assert isinstance(caught.value, IsADirectoryError)
    with pytest.raises(adjoint.OptionError, match="cannot read 'a.x00b'"):
        adjoint.compile("a\0b")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(adjoint.FileError, match="Permission denied") as caught:
        adjoint.compile(tmp_path / "program.mlir")
    assert isinstance(caught.value, PermissionError)


def test_a_wrong_entry_names_the_option_of_python():
    with pytest.raises(adjoint.OptionError, match="no function @other, it has @main; choose one with entry=NAME"):
        adjoint.compile(programs.SQUARE, entry="other")


@pytest.mark.parametrize(
    "options",
    [{"entry": "other"}, {"target": "gpu"}, {"numerics": "x"}, {"numerics": "fast,x"}, {"cpu": "z80"},
     {"threads": 10**6}],
)
def test_no_message_names_an_option_of_the_command_line(options):
    with pytest.raises(adjoint.OptionError) as caught:
        adjoint.compile(programs.SQUARE, **options)
    assert not re.search(r"--\w", str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("source", "arrays", "location", "called"),
    [
        (programs.ADD, {"x": (2,), "y": (3,)}, "p.mlir:3:8", "x: tensor<2xf32>, y: tensor<3xf32>"),
        # Arguments of static size are not listed.
        (PRODUCT, {"x": (4, 3), "w": (5, 2), "s": ()}, "p.mlir:4:8", "w: tensor<5x2xf32>"),
    ],
)
def test_errors_of_sizes_say_what_the_program_was_called_with(target, source, arrays, location, called):
    program = adjoint.compile(source, target=target, name="p.mlir")
    with pytest.raises(adjoint.ProgramError) as caught:
        program(**{name: np.zeros(shape, np.float32) for name, shape in arrays.items()})
    assert caught.value.location == location and called in caught.value.arguments and "s:" not in caught.value.arguments
    assert f"; called with {caught.value.arguments}\n" in str(caught.value)


def test_many_arguments_are_cut_short():
    names = [f"x{i}" for i in range(12)]
    text = ", ".join(f'%{name}: tensor<?xf32> {{ad.name = "{name}"}}' for name in names)
    program = adjoint.compile(
        f"func.func @main({text}) -> tensor<?xf32> {{\n  %y = ad.add %x0, %x1 : tensor<?xf32>\n  return %y : tensor<?xf32>\n}}"
    )
    with pytest.raises(adjoint.ProgramError) as caught:
        program(*(np.zeros(2 + (i == 1), np.float32) for i in range(12)))
    assert caught.value.arguments.endswith("x7: tensor<2xf32>, ...")


def test_too_little_memory_has_a_place_and_sizes(target):
    program = adjoint.compile(LARGE, target=target, entry="outer", name="large.mlir")
    with pytest.raises(adjoint.ProgramError, match="not enough memory") as caught:
        program(np.zeros(1 << 22, np.float32))
    error = caught.value
    assert error.location == "large.mlir:7:8"
    assert error.arguments == "x: tensor<4194304xf32>" and error.excerpt
    assert str(error).startswith(f"{error.location}: error: ")
