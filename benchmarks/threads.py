#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels and steps with one and two threads: ours in `strict` compared with JAX and PyTorch (eager and compiled).

Peers live in two processes, one on one core and one on two, since JAX counts its threads once; we and both of them take
turns in each round. Ours is the time of a run within adrt-run, a peer's is that of a call from Python. The gain of a
contender is its time with one thread divided by that with two. The first case is a copy by memcpy, shared by hand: what
the second thread gains where memory is the limit. A random case follows from --seed and its number alone.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import measure

NAME = "threads"
THREADS = (1, 2)
WORKER = "--worker"  # a process of peers, with as many threads as the next word says


def use_cores(count):
    """As many cores, and no more threads of a library."""
    cores = sorted(os.sched_getaffinity(0))[-count:]
    os.sched_setaffinity(0, set(cores))
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(count)
    if count == 1:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"


if WORKER in sys.argv:
    use_cores(int(sys.argv[sys.argv.index(WORKER) + 1]))

CORES = os.sched_getaffinity(0)

import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

import sweep  # noqa: E402  (it takes one core)
import sweep_peers  # noqa: E402
from sweep_graph import Graph  # noqa: E402
from sweep_named import AdamCase, DigitsCase, EncoderCase, GraphCase, LlamaCase, graph_case  # noqa: E402

REFERENCE = {"jax": None, "torch": sweep_peers.load()["torch"]}  # PyTorch gives the truth in f64
os.sched_setaffinity(0, CORES)
COMPUTE, MEMORY, STEP = "compute", "memory", "step"


def product(name, left, right, contract, batch=((), ())):
    return graph_case(name, lambda g: g.dot(g.input(left), g.input(right), contract, batch))


def norm_gradient(kind, rows, columns):
    graph = Graph()
    x, weight = graph.input((rows, columns)), graph.input((rows, columns))
    parameters = [graph.input((columns,)) for _ in range(2 if kind == "layer_norm" else 1)]
    weighted = graph.binary("mul", getattr(graph, kind)(x, *parameters), weight)
    graph.results, graph.wrt = [graph.reduce("sum", weighted, (0, 1))], list(range(len(parameters) + 2))
    graph.wrt.remove(1)
    return GraphCase(f"{kind} forward and backward {rows}x{columns}", graph)


def cases():
    """Kind and case."""
    rows = (4096, 1024)
    return [
        (COMPUTE, product("gemm 1024x1024x1024", (1024, 1024), (1024, 1024), ((1,), (0,)))),
        (COMPUTE, product("gemm 512x512x512", (512, 512), (512, 512), ((1,), (0,)))),
        (COMPUTE, product("tall product 32768x64x64", (32768, 64), (64, 64), ((1,), (0,)))),
        (COMPUTE, product("flat product 64x1024x8192", (64, 1024), (1024, 8192), ((1,), (0,)))),
        (COMPUTE, product("one row block 8x2048x8192", (8, 2048), (2048, 8192), ((1,), (0,)))),
        (COMPUTE, product("batched product 1x8x512x64x512", (1, 8, 512, 64), (1, 8, 64, 512), ((3,), (2,)),
                          ((0, 1), (0, 1)))),
        (COMPUTE, product("deep product 64x65536x64", (65536, 64), (65536, 64), ((0,), (0,)))),
        (MEMORY, product("matrix times vector 4096x4096", (4096, 4096), (4096,), ((1,), (0,)))),
        (MEMORY, product("vector times matrix 2048x8192", (1, 2048), (2048, 8192), ((1,), (0,)))),
        (COMPUTE, graph_case("softmax 4096x1024", lambda g: g.softmax(g.input(rows), 1))),
        (COMPUTE, graph_case("softmax 1x8x512x512", lambda g: g.softmax(g.input((1, 8, 512, 512)), 3))),
        (COMPUTE, norm_gradient("layer_norm", *rows)),
        (COMPUTE, norm_gradient("rms_norm", *rows)),
        (MEMORY, graph_case("sum of 16 M elements", lambda g: g.reduce("sum", g.input((1 << 24,)), (0,)))),
        (MEMORY, graph_case("row sums 4x4 M", lambda g: g.reduce("sum", g.input((4, 1 << 22)), (1,)))),
        (MEMORY, graph_case("column sums 65536x256", lambda g: g.reduce("sum", g.input((65536, 256)), (0,)))),
        (MEMORY, graph_case("column maxima 65536x64", lambda g: g.reduce("max", g.input((65536, 64)), (0,)))),
        (MEMORY, graph_case("transposition 4096x4096", lambda g: g.transpose(g.input((4096, 4096)), (1, 0)))),
        (MEMORY,
         graph_case("transposition 1x512x8x128", lambda g: g.transpose(g.input((8, 512, 8, 128)), (0, 2, 1, 3)))),
        (MEMORY, graph_case("concat 2x4 M", lambda g: g.concat([g.input((1, 1 << 22)), g.input((1, 1 << 22))], 1))),
        (COMPUTE, graph_case("gelu 1x4 M", lambda g: g.unary("gelu", g.input((1, 1 << 22), "f32", -4.0, 4.0)))),
        (MEMORY, graph_case("cumsum along rows 2048x4096", lambda g: g.cumsum(g.input((2048, 4096)), 1))),
        (MEMORY, graph_case("cumsum along columns 4096x2048", lambda g: g.cumsum(g.input((4096, 2048)), 0))),
        (MEMORY, AdamCase()),
        (STEP, LlamaCase(2, 256)),
        (STEP, LlamaCase(1, 1024)),
        (STEP, EncoderCase()),
        (STEP, DigitsCase()),
    ]


def chosen_cases(options):
    return sweep.chosen_cases(options, [case for _, case in cases()])


class Copy:
    """memcpy of 64 MiB, which releases Python's lock."""

    def __init__(self):
        self.source, self.target = (np.ones(1 << 24, np.float32) for _ in range(2))

    def time(self, threads, calls=5):
        parts = [slice(i * (1 << 24) // threads, (i + 1) * (1 << 24) // threads) for i in range(threads)]
        seconds = []
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            for _ in range(calls):
                start = time.perf_counter()
                list(pool.map(lambda part: np.copyto(self.target[part], self.source[part]), parts))
                seconds.append(time.perf_counter() - start)
        return statistics.median(seconds)


def serve(options):
    """The process of peers: prepares the case of a line, or times a contender of it; answers in JSON."""
    import torch
    torch.set_num_threads(options.worker)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    all_cases = {case.name: case for case in chosen_cases(options)}
    peers, kept = sweep_peers.load(), []
    for line in sys.stdin:
        name, _, contender = line.rstrip("\n").partition("\t")
        if not contender:
            case = all_cases[name]
            case.prepare(peers)
            kept = sweep.right_contenders(case, [])
            answer = list(kept)
        else:
            run, estimate = kept[contender]
            answer = sweep.median_time(run, sweep.calls_for(estimate))
        print(json.dumps(answer), file=answers, flush=True)


class Worker:
    def __init__(self, threads, arguments):
        command = [sys.executable, __file__, *arguments, WORKER, str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        print("\t".join(words), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{NAME}: the process of the peers ended")
        return json.loads(answer)


class Ours(sweep.Ours):
    def time_with(self, threads, calls):
        if not self.compiled[1].exists():
            sweep.execute([*self.compile, "--emit", self.compiled[1]])
        report, cores = self.folder / "report.json", sorted(os.sched_getaffinity(0))[-threads:]
        compiled = [str(threads) if before == "--threads" else word
                    for before, word in zip(["", *self.compiled], self.compiled)]
        command = ["taskset", "-c", ",".join(map(str, cores)), *compiled]
        sweep.execute([pathlib.Path(command[0]), *command[1:], "--warmup", "2", "--repeat", str(calls), "--report",
                       report])
        return json.loads(report.read_text())["median_seconds"]


def measure_case(case, workers, options, folder):
    case.prepare(REFERENCE)
    ours = Ours(folder, case, "strict")
    error = sweep.error_of(ours.results(case.truth), case.truth.values())
    row = {"case": case.name, "error": error}
    if not error <= case.tolerance:
        return {**row, "failed": f"a result is off by {error:.1e}, expected at most {case.tolerance:.0e}"}
    calls = sweep.calls_for(ours.time_with(1, 3))
    contenders = {("ours", threads): lambda threads=threads: ours.time_with(threads, calls) for threads in THREADS}
    for threads, worker in workers.items():
        for peer in worker.ask(case.name):
            contenders[peer, threads] = lambda peer=peer, worker=worker: worker.ask(case.name, peer)
    seconds = measure.take_turns(contenders, options.rounds)
    row["seconds"] = {f"{name} {threads}": time for (name, threads), time in seconds.items()}
    row["gain"] = seconds["ours", 1] / seconds["ours", 2]
    peers = {name: time for (name, threads), time in seconds.items() if threads == 2 and name != "ours"}
    if peers:
        row["best"] = min(peers, key=peers.get)
        row["ratio"] = peers[row["best"]] / seconds["ours", 2]
        if (row["best"], 1) in seconds:
            row["gain of best"] = seconds[row["best"], 1] / peers[row["best"]]
    return row


def show(row):
    if "failed" in row:
        print(f"{row['case'][:60]:60} FAILED: {row['failed']}", flush=True)
        return
    seconds, peer = row["seconds"], ""
    if "best" in row:
        peer = f"{1e3 * seconds[row['best'] + ' 2']:10.3f} {row['ratio']:6.2f} {row['best']} ({row.get('gain of best', 0):.2f})"
    print(f"{row['case'][:60]:60} {1e3 * seconds['ours 1']:10.3f} {1e3 * seconds['ours 2']:10.3f} {row['gain']:6.2f} {peer}",
          flush=True)


def parse_options():
    parser = sweep.parser_of_cases(__doc__, count=0)
    parser.add_argument("--no-peers", action="store_true", help="measure ours alone")
    parser.add_argument(WORKER, type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def close(rows, bound_by_memory, copy_gain):
    for row in rows:
        if "failed" in row:
            print(f"{NAME}: {row['case']}: {row['failed']}")
            continue
        measure.close(NAME, row["gain"], "ours with one thread", row["case"])
        if row["case"] in bound_by_memory:
            measure.close(NAME, row["gain"] / copy_gain, "what memcpy gains", row["case"])
        if "best" in row:
            measure.close(NAME, row["ratio"], f"{row['best']} with two threads", row["case"])
    gains = [row["gain"] for row in rows if "gain" in row]
    if gains:
        measure.close(NAME, min(gains), "ours with one thread", "worst")
    return any("failed" in row for row in rows)


def main():
    options = parse_options()
    if options.worker:
        return serve(options)
    if len(os.sched_getaffinity(0)) < max(THREADS):
        sys.exit(f"{NAME}: needs {max(THREADS)} CPUs")
    chosen = chosen_cases(options)
    bound_by_memory = {case.name for kind, case in cases() if kind == MEMORY}
    if not chosen:
        sys.exit(f"{NAME}: no case contains '{options.only}'")
    workers = {} if options.no_peers else {threads: Worker(threads, sys.argv[1:]) for threads in THREADS}
    copy = Copy()
    copied = measure.take_turns({threads: lambda threads=threads: copy.time(threads) for threads in THREADS},
                                options.rounds)
    copy_gain = copied[1] / copied[2]
    print(f"milliseconds, ours strict, median of {options.rounds} interleaved rounds")
    print(f"{'case':60} {'1 thread':>10} {'2 threads':>10} {'gain':>6} {'best peer':>10} {'ratio':>6}  (its gain)")
    print(f"{'memcpy of 64 MiB':60} {1e3 * copied[1]:10.3f} {1e3 * copied[2]:10.3f} {copy_gain:6.2f}", flush=True)
    rows = sweep.measure_all(chosen, options, lambda case, folder: measure_case(case, workers, options, folder), show)
    return close(rows, bound_by_memory, copy_gain)


if __name__ == "__main__":
    sys.exit(main())
