# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Errors are exceptions with their location in the source."""

import pickle

import adjoint
import numpy as np
import programs
import pytest

WRONG = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<9x2xf32>) -> tensor<4x2xf32> {
  %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
"""

CHECKED = """
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  check.expect_eq(%x, %y) : tensor<2xf32>
  return %x : tensor<2xf32>
}
"""


def test_compile_errors_have_a_place(tmp_path):
    file = tmp_path / "wrong.mlir"
    file.write_text(WRONG)
    with pytest.raises(adjoint.CompileError) as caught:
        adjoint.compile(file)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.severity, diagnostic.file, diagnostic.line, diagnostic.column) == ("error", str(file), 3, 8)
    assert diagnostic.message == "'ad.dot' op contracting axes 1 and 0 have sizes 8 and 9"
    assert diagnostic.location == f"{file}:3:8"
    # As the tools print it.
    line = WRONG.splitlines()[2]
    assert str(caught.value) == f"{file}:3:8: error: {diagnostic.message}\n{line}\n{' ' * 7}^"


def test_notes_come_with_their_error():
    with pytest.raises(adjoint.CompileError) as caught:
        adjoint.compile("func.func @main() {\n  return\n}\nfunc.func @main() {\n  return\n}", name="twice.mlir")
    (diagnostic,) = caught.value.diagnostics
    (note,) = diagnostic.notes
    assert note.severity == "note" and note.line == 1 and diagnostic.line == 4
    assert "twice.mlir:1:1: note: " in str(caught.value)


@pytest.mark.parametrize(
    "source", ["{", "\n", "func.func @main(%x: tensor<4xf32>) {", b"\xff\xfe\x00{", "€{", "{" * 100, b"ML\xefR"]
)
def test_anything_may_be_compiled(source, target):
    with pytest.raises((adjoint.CompileError, adjoint.OptionError)) as caught:
        adjoint.compile(source, target=target)
    assert str(caught.value)


@pytest.mark.parametrize("name", ["", "a\0b", "\udc80", 'a:1:2:"b"\n\t%s'])
def test_files_may_have_any_name(name):
    with pytest.raises(adjoint.CompileError, match="expected"):
        adjoint.compile("func.func @main() {\n", name=name)
    with pytest.raises(adjoint.ProgramError, match="broadcast"):
        adjoint.compile(programs.ADD, name=name)(np.zeros(2, np.float32), np.zeros(3, np.float32))


def test_missing_files_are_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        adjoint.compile(tmp_path / "nothing.mlir")
    with pytest.raises(IsADirectoryError):
        adjoint.compile(tmp_path)
    with pytest.raises(TypeError):
        adjoint.compile(None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "gpu"}, "unknown target 'gpu', expected reference, cpu"),
        ({"numerics": "fst"}, "unknown numerics mode 'fst'.*did you mean 'fast'"),
        ({"numerics": "fast,all"}, "unknown numerics permission 'all'"),
        ({"kernels": {"dot": "fp16"}}, "expected written, serial, pairwise, tf32, bf16x3, .* but got 'fp16'"),
        ({"kernels": {"dot,": "tf32"}}, "expected kernels as names of operations and kernels, got 'dot,'"),
        ({"precision": "fp16"}, "expected bf16, f16, f8, none or FILE.yaml as the policy, but got 'fp16'"),
        ({"threads": -1}, "expected a number of threads from 0 to 1024, got -1"),
        ({"threads": 10**30}, "expected a number of threads from 0 to 1024, got 1000"),
        ({"cpu": "z80"}, "unknown x86-64 CPU 'z80'"),
        ({"entry": "other"}, "no function @other, it has @main"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(adjoint.OptionError, match=message) as caught:
        adjoint.compile(programs.SQUARE, **options)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"threads": "2"}, "threads as int or None, got str"),
        ({"threads": 1.5}, "threads as int or None, got float"),
        ({"threads": True}, "threads as int or None, got bool"),
        ({"entry": 3}, "entry as str, got int"),
        ({"entry": None}, "entry as str, got NoneType"),
        ({"target": None}, "target as str, got NoneType"),
        ({"target": 5}, "target as str, got int"),
        ({"target": b"cpu"}, "target as str, got bytes"),
        ({"numerics": 1}, "numerics as str or None, got int"),
        ({"numerics": ["fast"]}, "numerics as str or None, got list"),
        ({"kernels": "dot=tf32"}, "kernels as Mapping or None, got str"),
        ({"kernels": {"dot": 3}}, "kernels as names of operations and kernels, got int"),
        ({"precision": 16}, "precision as str or None, got int"),
        ({"cpu": 5}, "cpu as str or None, got int"),
        ({"cache": 7}, "cache as str or PathLike or None, got int"),
        ({"cache": False}, "cache as str or PathLike or None, got bool"),
        ({"optimize": "yes"}, "optimize as bool, got str"),
        ({"optimize": None}, "optimize as bool, got NoneType"),
        ({"name": 5}, "name as str or None, got int"),
    ],
)
def test_options_have_types(options, expected):
    with pytest.raises(adjoint.OptionError, match=f"^expected {expected}$") as caught:
        adjoint.compile(programs.SQUARE, **options)
    assert isinstance(caught.value, adjoint.OptionTypeError) and isinstance(caught.value, TypeError)


@pytest.mark.parametrize("option", ["entry", "target", "numerics", "precision", "cpu", "cache"])
def test_no_option_is_empty(option):
    with pytest.raises(adjoint.OptionError, match=f"expected {option} with a value.*, got ''"):
        adjoint.compile(programs.SQUARE, **{option: ""})


def test_options_of_numpy_and_paths_are_taken(tmp_path):
    program = adjoint.compile(programs.SQUARE, threads=np.int64(2), optimize=np.bool_(False), cache=tmp_path)
    assert program.cache_use == "miss"


@pytest.mark.parametrize("source", [5, None, ["func.func"], np.zeros(3)])
def test_a_source_has_a_type(source):
    with pytest.raises(adjoint.OptionTypeError, match="expected str, bytes or os.PathLike object as the program, got "):
        adjoint.compile(source)


def test_a_compiled_file_is_no_program(tmp_path):
    for name, advice in ("first.adx", "run it with adrt-run or ad-runner$"), ("first.mlir", "run it with adrt-run, or with ad-runner under a name that ends with .adx$"):
        (tmp_path / name).write_bytes(b"\x89ADX\r\n\x1a\n" + bytes(120))
        with pytest.raises(adjoint.OptionError, match=f"is compiled already, expected a program in MLIR; .*{advice}"):
            adjoint.compile(tmp_path / name)


def test_unavailable_targets_are_named(monkeypatch):
    monkeypatch.setenv("ADJOINT_LIBCUDA", "/missing/libcuda.so")
    with pytest.raises(adjoint.TargetUnavailableError, match="target 'cuda' is not available"):
        adjoint.compile(programs.SQUARE, target="cuda")


def test_errors_at_run_time_have_a_place(target):
    program = adjoint.compile(programs.ADD, target=target, name="add.mlir")
    with pytest.raises(adjoint.ProgramError) as caught:
        program(np.zeros(2, np.float32), np.zeros(3, np.float32))
    error = caught.value
    assert error.location == "add.mlir:3:8" and error.operation and "broadcast: dimension 0 has sizes" in error.message
    assert str(error).startswith("add.mlir:3:8: error: '")
    assert str(error).endswith("\n  %z = ad.add %x, %y : tensor<?xf32>\n       ^")
    assert isinstance(error, RuntimeError)
    # The program works again.
    np.testing.assert_array_equal(program(np.ones(2, np.float32), np.ones(2, np.float32)), [2, 2])


def test_what_the_interpreter_refuses_has_a_place():
    step = """
    func.func @main(%n: tensor<i64>) -> tensor<f32> {
      %zero = arith.constant 0 : index
      %step = arith.constant 0 : index
      %start = ad.constant dense<0.0> : tensor<f32>
      %end = scf.for %i = %zero to %zero step %step iter_args(%a = %start) -> tensor<f32> {
        scf.yield %a : tensor<f32>
      }
      return %end : tensor<f32>
    }"""
    with pytest.raises(adjoint.Error) as caught:
        adjoint.compile(step, target="reference", name="step.mlir")(np.int64(3))
    assert "step.mlir:6:14" in str(caught.value) and "step" in str(caught.value)


def test_failed_checks(target):
    program = adjoint.compile(CHECKED, target=target, name="check.mlir")
    with pytest.raises(adjoint.CheckError, match="got 1 .*expected 0") as caught:
        program(np.ones(2, np.float32), np.zeros(2, np.float32))
    assert caught.value.location == "check.mlir:3:3" and caught.value.operation == "check.expect_eq"
    program(np.ones(2, np.float32), np.ones(2, np.float32))


def test_nothing_is_printed(capfd):
    for source in (WRONG, "func.func @main() {"):
        with pytest.raises(adjoint.CompileError):
            adjoint.compile(source)
    with pytest.raises(adjoint.CheckError):
        adjoint.compile(CHECKED, target="reference")(np.ones(2, np.float32), np.zeros(2, np.float32))
    assert capfd.readouterr() == ("", "")


def test_a_cache_that_cannot_be_used_is_a_warning(tmp_path):
    folder = tmp_path / "file"
    folder.write_text("")
    with pytest.warns(RuntimeWarning, match="cache folder .* is not used"):
        program = adjoint.compile(programs.SQUARE, cache=folder)
    assert program.cache_use == "off"


def test_exceptions_can_be_pickled():
    diagnostic = adjoint.Diagnostic("error", "wrong", "p.mlir", 1, 2)
    for error in (
        adjoint.CompileError("", (diagnostic,)),
        adjoint.ProgramError("wrong", "p.mlir:1:2", "ad.add"),
        adjoint.CheckError("wrong"),
        adjoint.OptionError("wrong"),
        adjoint.OptionTypeError("wrong"),
    ):
        twin = pickle.loads(pickle.dumps(error))
        assert type(twin) is type(error) and str(twin) == str(error)


def test_source_lines_show_numbers_of_control_characters():
    with pytest.raises(adjoint.CompileError) as caught:
        adjoint.compile('func.func @main(%x: tensor<4xf32>) {\n\treturn "\x0bü\x9b"\n}\n', name="odd.mlir")
    *_, line, caret = str(caught.value).split("\n")
    assert line == '\treturn "\\u{B}ü\\u{9B}"'
    assert caret == "\t" + " " * len('return "') + "^"
