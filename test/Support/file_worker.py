# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Calls functions of the Python package on files, many in one process: a line of words on standard input is a call, and
a line of JSON on what was standard output says how it ended. What the package prints is in standard error.

    file_worker.py FOLDER    for `cd FOLDER`, then lines such as: replay trace"""

import json
import math
import os
import sys
import traceback

import numpy as np

import adjoint

LARGEST = 1 << 20


def compile_file(path, *options):
    return adjoint.compile(path, cache="off", **dict(option.split("=") for option in options))


def compile_text(path):
    with open(path, "rb") as file:
        adjoint.compile(file.read(), cache="off", target="reference")


def on_zeros(function):
    """function(program, *arrays) for the program of a file, unless it is large or has feeds."""

    def run(path, *options):
        program = compile_file(path, *options)
        specs = program.signature.arguments
        shapes = [tuple(5 if size is None else size for size in spec.shape) for spec in specs]
        if max(map(math.prod, shapes), default=0) <= LARGEST and not program.signature.feeds:
            function(program, *(np.zeros(shape, spec.dtype) for shape, spec in zip(shapes, specs)))

    return run


def read_trace(folder):
    trace = adjoint.diff.read_trace(folder)
    trace.find("x")
    for record in trace.records:
        if record.file:
            record.load()


CALLS = {
    "compile": compile_file,
    "compile_text": compile_text,
    "call": on_zeros(lambda program, *arrays: program(*arrays)),
    "nan": on_zeros(adjoint.diff.nan),
    "trace": on_zeros(lambda program, *arrays: adjoint.diff.trace(program, "new-trace", *arrays)),
    "read_trace": read_trace,
    "replay": adjoint.diff.replay,
    "runs": adjoint.diff.runs,
    "tensors": adjoint.diff.tensors,
}


def answer(words):
    """How a call ended: the text of the package's own error, or a traceback of another one."""
    try:
        CALLS[words[0]](*words[1:])
        return {"code": 0}
    except adjoint.Error as error:
        return {"code": 1, "text": "".join(traceback.format_exception_only(error))}
    except Exception:  # noqa: BLE001
        return {"code": 1, "text": traceback.format_exc(), "foreign": True}


def main():
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        folder, *words = json.loads(line)
        os.chdir(folder)
        print(json.dumps(answer(words)), file=replies, flush=True)


if __name__ == "__main__":
    main()
