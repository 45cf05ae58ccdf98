# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Bad inputs of ad-diff end with exit code 2 and a message that names the file and the reason. Outputs are written
whole or not at all."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))


def run(folder, *words):
    return subprocess.run([str(BIN / "ad-diff"), *map(str, words)], cwd=folder, capture_output=True, text=True,
                          timeout=60)


def header(shape, dtype="<f4"):
    """The head of a file that announces elements, without their data."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def write_files(folder):
    np.save(folder / "good.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    np.save(folder / "turned.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    whole = (folder / "good.npy").read_bytes()
    (folder / "half.npy").write_bytes(whole[:-8])
    (folder / "head.npy").write_bytes(whole[:20])
    (folder / "none.npy").write_bytes(b"")
    (folder / "text.npy").write_text("no numbers")
    (folder / "huge.npy").write_bytes(header((1 << 40, 1 << 40)))
    (folder / "large.npy").write_bytes(header((1 << 40,)))
    np.save(folder / "complex.npy", np.zeros(3, np.complex64))
    np.save(folder / "big.npy", np.zeros(3, ">f4"))
    np.save(folder / "objects.npy", np.array([{}], dtype=object))
    np.save(folder / "bytes.npy", np.zeros(3, np.uint8).view("V1"))
    np.save(folder / "shorts.npy", np.zeros(3, np.uint16).view("V2"))
    (folder / "flags.npy").write_bytes(header((2,), "|b1") + b"\x01\x07")
    (folder / "empty").mkdir()


# The inputs beside good.npy, more options, and what the message says.
ERRORS = {
    "half a file": (["half.npy"], "'half.npy': truncated: the header announces 24 bytes of data, the file holds 16"),
    "half a header": (["head.npy"], "'head.npy': truncated: the file ends within the header"),
    "an empty file": (["none.npy"], "'none.npy': not an .npy file"),
    "text": (["text.npy"], "'text.npy': not an .npy file"),
    "more elements than there are": (["huge.npy"], "the shape has more elements than fit into memory"),
    "more elements than the file has": (["large.npy"], "the header announces 4398046511104 bytes of data, the file holds 0"),
    "complex numbers": (["complex.npy"], "dtype '<c8' is not supported, expected f8, f4"),
    "big-endian numbers": (["big.npy"], "big-endian data ('>f4') is not supported"),
    "Python objects": (["objects.npy"], "the array holds Python objects"),
    "bytes of no type": (["bytes.npy"], "'bytes.npy': dtype '|V1' does not say the element type, expected --type f8E4M3FN"),
    "another raw type": (["shorts.npy", "--type=f8E5M2"], "expected elements of type f8E5M2, found dtype"),
    "a boolean of 7": (["flags.npy"], "element 1 of a boolean array is 7, expected 0 or 1"),
    "another shape": (["turned.npy"],
                      "'good.npy' is tensor<2x3xf32>, 'turned.npy' is tensor<3x2xf32>: expected tensors of one shape"),
    "no file": (["nothing.npy"], "cannot read 'nothing.npy': No such file or directory"),
    "a file and a folder": (["empty"], "expected two files or two folders, but only 'empty' is a folder"),
}


def check_error(command, inputs, message):
    def check(folder):
        write_files(folder)
        done = run(folder, command, "good.npy", *inputs, "--json=report.json")
        if done.returncode != 2 or message not in done.stderr or done.stdout:
            yield f"exit code {done.returncode}, expected '{message}': {done.stdout}{done.stderr}"
        if (folder / "report.json").exists():
            yield "a report was written"

    return check


def check_empty_folders(folder):
    write_files(folder)
    done = run(folder, "tensors", "empty", "empty")
    if done.returncode != 2 or "has a file that ends with .npy" not in done.stderr:
        yield f"exit code {done.returncode}: {done.stderr}"


def check_warnings(folder):
    np.save(folder / "nan.npy", np.full((2, 3), np.nan, np.float32))
    np.save(folder / "one.npy", np.array([np.nan, 1], np.float32))
    np.save(folder / "empty.npy", np.zeros((0, 3), np.float32))
    np.save(folder / "scalar.npy", np.float32(1.5))
    for name, message in (("nan", "'nan': all elements of both tensors are NaN"),
                          ("empty", "'empty': both tensors are empty"),
                          ("one", "'one': 1 element is NaN in both tensors and counts as equal")):
        done = run(folder, "tensors", f"{name}.npy", f"{name}.npy")
        if done.returncode or f"ad-diff: warning: {message}\n" != done.stderr:
            yield f"exit code {done.returncode}, expected '{message}': {done.stderr}"
    done = run(folder, "tensors", "scalar.npy", "scalar.npy")
    if done.returncode or done.stderr or "abs=0.0, rel=0.0/,amax=\n" not in done.stdout:
        yield f"a scalar: exit code {done.returncode}: {done.stdout}{done.stderr}"


READERS = {"json": json.loads, "csv": lambda text: list(csv.reader(text.splitlines())), "svg": ElementTree.fromstring,
           # Without its head, whose tags need no end.
           "html": lambda text: ElementTree.fromstring("<body>" + text.split("<body>")[1].split("</html>")[0])}


def check_outputs(folder):
    write_files(folder)
    for name, read in READERS.items():
        for command, inputs in (("tensors", ["good.npy", "good.npy"]), ("matrix", ["good.npy"] * 3)):
            done = run(folder, command, *inputs, f"--{name}", f"out.{name}")
            if done.returncode or not (folder / f"out.{name}").stat().st_size:
                yield f"{command} --{name}: exit code {done.returncode}: {done.stderr}"
            read((folder / f"out.{name}").read_text())
            alone = run(folder, command, *inputs, f"--{name}=-")
            if alone.stdout != (folder / f"out.{name}").read_text():
                yield f"{command} --{name}=-: other text than that of the file"
    for words, message in ((["--json=good.npy"], "--json would replace the input 'good.npy'"),
                           (["--json=x", "--csv=x"], "--csv and --json would both write 'x'"),
                           (["--svg=no/x.svg"], "cannot write 'no/x.svg'"), (["--html=empty"], "cannot write 'empty'")):
        done = run(folder, "tensors", "good.npy", "good.npy", *words)
        if done.returncode != 2 or message not in done.stderr or done.stdout:
            yield f"{words}: exit code {done.returncode}, expected '{message}': {done.stdout}{done.stderr}"
    if os.path.exists("/dev/full"):
        done = run(folder, "tensors", "good.npy", "good.npy", "--json=/dev/full")
        if done.returncode != 2 or "No space left on device" not in done.stderr:
            yield f"a full disk: exit code {done.returncode}: {done.stderr}"


def check_other_bytes(folder):
    """Names and titles that are not UTF-8, and control characters, leave every file readable."""
    write_files(folder)
    odd = os.fsdecode(b"odd\xff\x01.npy")
    (folder / odd).write_bytes((folder / "good.npy").read_bytes())
    for name, read in READERS.items():
        for command, inputs in (("tensors", ["good.npy", odd]), ("matrix", [odd, "good.npy", "good.npy"])):
            for output in (f"out.{name}", "-"):
                title = ["--title", os.fsdecode(b"x\xfe")] * (command == "matrix" and name in ("svg", "html"))
                done = subprocess.run([str(BIN / "ad-diff"), command, *inputs, *title, f"--{name}", output], cwd=folder,
                                      capture_output=True, timeout=60)
                text = done.stdout if output == "-" else (folder / output).read_bytes()
                if done.returncode:
                    yield f"{command} --{name}: exit code {done.returncode}: {done.stderr}"
                try:
                    read(text.decode("utf-8"))
                except (UnicodeDecodeError, ValueError, ElementTree.ParseError) as problem:
                    yield f"{command} --{name} {output}: {problem}"
                if b"odd" not in text and (command, name) != ("tensors", "svg"):  # whose title names no file
                    yield f"{command} --{name} {output} does not name the file: {text[:200]}"


def changed(generator, content):
    """Some bytes replaced, and the end cut off now and then."""
    data = bytearray(content)
    for _ in range(generator.integers(1, 4)):
        data[generator.integers(min(len(data), 200))] = generator.integers(256)
    return bytes(data[:generator.integers(len(data))] if generator.random() < 0.2 else data)


def check_changed_files(folder):
    """Random changes of files never crash the tool."""
    write_files(folder)
    generator = np.random.default_rng(11)
    table = (ROOT / "test/Diff/Inputs/llama-right.tsv").read_bytes()
    (folder / "good.tsv").write_bytes(table)
    for command, ending, content in (("tensors", "npy", (folder / "good.npy").read_bytes()), ("align", "tsv", table)):
        for _ in range(150):
            data = changed(generator, content)
            (folder / f"bad.{ending}").write_bytes(data)
            done = subprocess.run([str(BIN / "ad-diff"), command, f"good.{ending}", f"bad.{ending}"], cwd=folder,
                                  capture_output=True, timeout=60)
            if done.returncode not in (0, 2) or (done.returncode == 2) != done.stderr.startswith(b"ad-diff: error: "):
                yield f"{command} of {data!r}: exit code {done.returncode}: {done.stderr}"


def main():
    cases = [(f"{command}, {label}", check_error(command, *case)) for label, case in ERRORS.items()
             for command in ("tensors", "matrix") if (command, label) != ("matrix", "a file and a folder")]
    cases += [("empty folders", check_empty_folders), ("warnings", check_warnings), ("outputs", check_outputs),
              ("names that are not UTF-8", check_other_bytes),
              ("changed files", check_changed_files)]
    return checks.run_checks("tensor errors", cases)


if __name__ == "__main__":
    sys.exit(main())
