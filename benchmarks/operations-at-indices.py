#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Lookups and scatters on one core: ours in `strict` compared with NumPy and PyTorch, in f32.

Rows of a table at random indices, the gradient of an embedding, an update of the rows that were read, and sums of single
elements; and one write of the table, which the gradient is held against. Results are compared first, with a sum in f64.
Ours is the time of the kernels, the tests of the indices included, a peer's that of a call from Python into memory that
is there. PyTorch is named as missing where it is not installed.
"""

import pathlib
import sys
import tempfile

import measure

NAME = "operations-at-indices"
OPTIONS = measure.parse_options(__doc__, rounds=7)
measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

try:
    import torch
    torch.set_num_threads(1)
except ImportError as error:
    torch = None
    print(f"torch: missing ({error})")

SECONDS = 0.3  # of a contender in a round
ROWS, COLUMNS, COUNT, ELEMENTS = 50_000, 512, 8192, 1_000_000


class Case:
    """`arrays` are the arguments by name, `truth` computes the result in f64, `peers` are {name: function}."""

    def __init__(self, name, text, arrays, truth, peers, tolerance=1e-5):
        self.name, self.text, self.arrays, self.truth, self.peers = name, text, arrays, truth, peers
        self.tolerance = tolerance

    def __str__(self):
        return self.name


def entry(arguments, result, body):
    names = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"{more}}}' for name, kind, more in arguments)
    return f'func.func @main({names}) -> ({result} {{ad.name = "r"}}) {{\n{body}\n  return %r : {result}\n}}\n'


def cases():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    ids = rng.integers(0, ROWS, COUNT).astype(np.int32)
    rows = rng.normal(size=(COUNT, COLUMNS)).astype(np.float32)
    places = rng.integers(0, ELEMENTS, ELEMENTS).astype(np.int32)
    values = rng.normal(size=ELEMENTS).astype(np.float32)
    t, i, u = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{COUNT}xi32>", f"tensor<{COUNT}x{COLUMNS}xf32>"
    e, p = f"tensor<{ELEMENTS}xf32>", f"tensor<{ELEMENTS}xi32>"
    taken, sums, elements = np.empty_like(rows), np.empty_like(table), np.empty(ELEMENTS, np.float32)

    def added(out, index, update, start=0.0):
        out[...] = start
        np.add.at(out, index, update)
        return out

    scatter = "  %r = ad.scatter add {0}[%i], %u axes [0] slices [1] : " + f"{t}, {i}, {u}"
    zeros = f"  %z = ad.constant dense<0.0> : {t}\n"
    in_torch = {}
    if torch:
        lookup, updates, wide = torch.from_numpy(ids).long(), torch.from_numpy(rows), torch.from_numpy(table)
        at, single = torch.from_numpy(places).long(), torch.from_numpy(values)
        into_rows, into_table, into_elements = (torch.from_numpy(array) for array in (taken, sums, elements))
        updated = torch.from_numpy(np.zeros_like(table))
        in_torch = {"take": lambda: torch.index_select(wide, 0, lookup, out=into_rows),
                    "gradient": lambda: into_table.zero_().index_add_(0, lookup, updates),
                    "update": lambda: updated.index_add_(0, lookup, updates),
                    "elements": lambda: into_elements.zero_().index_add_(0, at, single)}
    other = np.zeros_like(table)
    peers = lambda name, numpy: {"numpy": numpy, **({"torch": in_torch[name]} if torch else {})}
    yield Case("take", entry([("t", t, ""), ("i", i, "")], u, f"  %r = ad.embedding %t, %i : {t}, {i}"),
               {"t": table, "i": ids}, lambda: table[ids],
               peers("take", lambda: np.take(table, ids, axis=0, out=taken, mode="clip")))
    yield Case("gradient of an embedding", entry([("i", i, ""), ("u", u, "")], t, zeros + scatter.format("%z")),
               {"i": ids, "u": rows}, lambda: added(np.zeros((ROWS, COLUMNS)), ids, rows),
               {"write": lambda: sums.fill(0.0), **peers("gradient", lambda: added(sums, ids, rows))})
    yield Case("update of the rows", entry([("t", t, ", ad.donated = 0"), ("i", i, ""), ("u", u, "")], t,
                                           scatter.format("%t")),
               {"t": np.zeros_like(table), "i": ids, "u": rows}, lambda: added(np.zeros((ROWS, COLUMNS)), ids, rows),
               peers("update", lambda: np.add.at(other, ids, rows)))
    yield Case("sums of elements", entry([("i", p, ""), ("u", e, "")], e,
                                         f"  %z = ad.constant dense<0.0> : {e}\n"
                                         f"  %r = ad.scatter add %z[%i], %u axes [0] : {e}, {p}, {e}"),
               {"i": places, "u": values}, lambda: added(np.zeros(ELEMENTS), places, values),
               peers("elements", lambda: added(elements, places, values)))


def check(case, folder, arguments):
    """Ends the program if our result is wrong."""
    ours = measure.Ours(folder, case.text, arguments)
    error = np.max(np.abs(np.load(ours.results(arguments) / "r.npy") - case.truth())) / np.max(np.abs(case.truth()))
    if not error <= case.tolerance:
        sys.exit(f"{NAME}: {case}: the result is off by {error:.1e}, expected at most {case.tolerance:.0e}")
    return ours


def main():
    rows = []
    print(f"milliseconds on one core, ours strict, median of {OPTIONS.rounds} interleaved rounds")
    for case in measure.select(list(cases()), OPTIONS, NAME):
        with tempfile.TemporaryDirectory() as name:
            folder, arguments = pathlib.Path(name), {}
            for argument, array in case.arrays.items():
                np.save(folder / f"{argument}.npy", array)
                arguments[argument] = folder / f"{argument}.npy"
            ours = check(case, folder, arguments)
            seconds = measure.take_turns({"ours": lambda: ours.time(20),
                                          **{peer: measure.timed(call, SECONDS) for peer, call in case.peers.items()}}, OPTIONS.rounds)
        rows.append({"case": str(case), "seconds": seconds})
        print(f"{str(case):28} " + "  ".join(f"{peer} {1e3 * value:.2f}" for peer, value in seconds.items()), flush=True)
        measure.write_json(OPTIONS, rows)
    for row in rows:
        for peer, value in row["seconds"].items():
            if peer != "ours":
                measure.close(NAME, value / row["seconds"]["ours"], peer, row["case"])


if __name__ == "__main__":
    main()
