# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the experiments share: options, runs, tables, pictures, and a summary for the gallery.

An experiment writes into its folder: log.txt (what it prints), results.json (figures, and what the gallery shows),
tables as .csv, pictures as .svg. Each file is written whole or not at all.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import shutil
import sys
import time

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/support"))
sys.dont_write_bytecode = True
from ending import FILE_ERROR, execute, naming, remove, save_whole, temporary_folder, write_whole  # noqa: E402, F401
from ending import run as run_program  # noqa: E402, F401

NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
BITS = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}  # of the fraction
TARGETS = ["cpu", "gpu-sim", "reference", "cuda"]


def tool(name):
    folder = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")).resolve()
    if not (folder / name).exists():
        sys.exit(f"no {folder / name}; build it, or name the folder of the tools in ADJOINT_BIN")
    return str(folder / name)


def save(path, values):
    """As .npy; bf16 as the V2 that ad-runner and ad-diff read."""
    values = np.ascontiguousarray(values)
    save_whole(path, values.view("V2") if values.dtype == ml_dtypes.bfloat16 else values)


def load(path):
    values = np.load(path)
    return values.view(ml_dtypes.bfloat16) if values.dtype == np.dtype("V2") else values


def difference(expected, got):
    """The largest absolute difference, in f64; NaN if there is one on one side only."""
    expected, got = (np.asarray(x, np.float64) for x in (expected, got))
    if expected.size == 0:
        return 0.0
    both = np.isnan(expected) & np.isnan(got)
    return float(np.abs(np.where(both, 0, expected - got)).max())


def ulp(element, magnitude):
    """Of the type, for numbers as large as `magnitude`."""
    return 2.0 ** (int(np.floor(np.log2(magnitude))) - BITS[element])


class Experiment:
    def __init__(self, name, title, sentence):
        parser = argparse.ArgumentParser(description=sentence)
        parser.add_argument("--quick", action="store_true", help="sizes for CI: less than 20 seconds")
        parser.add_argument("--target", choices=TARGETS, default="cpu", help="gpu-sim takes the sizes of --quick (cpu)")
        parser.add_argument("--out", type=pathlib.Path, help=f"folder for the files (build/numerics/{name})")
        options = parser.parse_args()
        self.name, self.title, self.sentence = name, title, sentence
        self.quick, self.target = options.quick or options.target == "gpu-sim", options.target
        self.out = (options.out or ROOT / "build/numerics" / name).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        # Without it nobody takes the files of a run that did not end for those of a whole one.
        (self.out / "results.json").unlink(missing_ok=True)
        self.start, self.log, self.pictures, self.tables, self.terms = time.monotonic(), [], [], [], {}
        self.holder = temporary_folder()
        self.folder = pathlib.Path(self.holder.name)
        size = "quick" if self.quick else "full"
        self.say(f"{title}\n{sentence}\n\ntarget={self.target}, size={size}\n{self.environment()}\n")

    def environment(self):
        """Version, CPU and GPU; the lists of features and what is missing for a GPU stay out."""
        lines = self.call([tool("ad-runner"), "--env"]).stdout.splitlines()
        wanted = [line for line in lines if line.startswith(("ad-runner", "CPU", "GPU", "threads"))]
        return "\n".join(line.split(": the driver")[0] for line in wanted)

    def say(self, text=""):
        with naming("standard output"):
            print(text, flush=True)
        self.log.append(text)

    def explain(self, terms):
        """What the labels of tables and pictures mean: a term and its meaning each."""
        self.terms.update(terms)
        width = max(map(len, terms))
        for term, meaning in terms.items():
            self.say(f"{term.ljust(width)}  {meaning}")
        self.say()

    # --- runs

    def command(self, label, text, arrays, options, out):
        """The command that runs a program on arrays by name; it saves both."""
        inputs = self.folder / "inputs"
        inputs.mkdir(exist_ok=True)
        lines = []
        for name, values in arrays.items():
            save(inputs / f"{name}.npy", values)
            lines += ["--arg", f"{name}={inputs / name}.npy"]
        write_whole(self.out / f"{label}.mlir", text)
        return [tool("ad-runner"), self.out / f"{label}.mlir", *lines, "--target", self.target, "--out-dir", out,
                "--cache", self.folder / "cache", *options]

    def run(self, label, text, arrays, options=()):
        """The results of a program by name. The program is kept in the folder of the experiment."""
        out = self.folder / "results"
        for file in out.glob("*.npy"):
            file.unlink()
        self.call(self.command(label, text, arrays, [str(o) for o in options], out))
        return {file.stem: load(file) for file in out.glob("*.npy")}

    def call(self, command, expected=(0,), folder=None):
        """A command that must end with one of the exit codes; its output."""
        result = execute(command, cwd=folder)
        if result.returncode not in expected:
            words = " ".join(map(str, command))
            print(f"{self.name}: exit code {result.returncode} of {words}: {result.stderr.strip()}", file=sys.stderr)
            sys.exit(FILE_ERROR if result.returncode == FILE_ERROR else 1)
        return result

    def compare(self, expected, got, bound=None):
        """What `ad-diff tensors` says about results of the same names, as its JSON: a pair for each name, and whether
        the bound holds for all."""
        folders = [self.folder / side for side in ("expected", "got")]
        for folder, results in zip(folders, (expected, got)):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name, values in results.items():
                save(folder / f"{name}.npy", values)
        out = self.folder / "differences.json"
        options = [] if bound is None else [f"--bound={bound}"]
        self.call([tool("ad-diff"), "tensors", *folders, "--json", out, *options], expected=(0, 1))
        return json.loads(out.read_text())

    # --- output

    def table(self, name, title, header, rows):
        """Prints a table and saves it as CSV. None is left empty."""
        cells = [[self.cell(x) for x in row] for row in [header, *rows]]
        widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
        self.say(title)
        for row in cells:
            self.say("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        self.say()
        text = io.StringIO()
        csv.writer(text).writerows([header, *rows])
        write_whole(self.out / f"{name}.csv", text.getvalue())
        self.tables.append({"file": f"{name}.csv", "title": title})

    def cell(self, value):
        if value is None:
            return ""
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    def picture(self, name, svg, caption):
        if svg is not None:
            write_whole(self.out / f"{name}.svg", svg)
        self.pictures.append({"file": f"{name}.svg", "caption": caption})

    def matrix(self, name, title, tensors, caption):
        """The table of largest differences of all pairs, by ad-diff, with its heat map; returns (matrix, classes)."""
        folder = self.folder / "matrix"
        folder.mkdir(exist_ok=True)
        files = []
        for number, values in enumerate(tensors.values()):
            files.append(folder / f"{number}.npy")
            save(files[-1], values)
        result = self.call([tool("ad-diff"), "matrix", *files, "--labels", ",".join(tensors), "--title", title, "--svg",
                            self.out / f"{name}.svg", "--csv", self.out / f"{name}.csv"])
        self.say(result.stdout)
        self.picture(name, None, caption)
        self.tables.append({"file": f"{name}.csv", "title": title})

    def finish(self, **results):
        """Writes the log and the summary. `results` are the figures that the tests read."""
        seconds = time.monotonic() - self.start
        self.say(f"total running time: {seconds // 60:.0f} minutes {seconds % 60:.1f} seconds")
        command = f".venv/bin/python examples/numerics/{self.name.replace('-', '_')}.py"
        command += (" --quick" if self.quick else "") + (f" --target {self.target}" if self.target != "cpu" else "")
        write_whole(self.out / "log.txt", "\n".join(self.log) + "\n")
        write_whole(self.out / "results.json", json.dumps({
            "name": self.name, "title": self.title, "sentence": self.sentence, "command": command, "seconds": seconds,
            "target": self.target, "size": "quick" if self.quick else "full", "terms": self.terms,
            "pictures": self.pictures, "tables": self.tables, "results": results}, indent=1) + "\n")
        remove(self.holder)


def classes(tensors):
    """Names of tensors with equal bits, in the order of the first of each class."""
    found = {}
    for name, values in tensors.items():
        found.setdefault(np.ascontiguousarray(values).tobytes(), []).append(name)
    return list(found.values())


def distances(tensors):
    names = list(tensors)
    return {f"{a} {b}": difference(tensors[a], tensors[b]) for i, a in enumerate(names) for b in names[i + 1 :]}
