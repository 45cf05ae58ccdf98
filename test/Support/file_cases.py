# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which kinds of files are changed, how, and which commands read them. A command runs in the folder of its case, next
to `fixed` with unchanged files. `python` calls a function of file_worker.py; the other words are those of a shell."""

import dataclasses
from collections.abc import Callable

import file_formats
import file_makers as makers

EMULATE = "ad-gpu-emulate ../fixed/elementwise.mlir --kernel affine"
RUN = "ad-runner ../fixed/first.mlir --cache=off"
FEED = "ad-runner ../fixed/feed.mlir --cache=off --arg=x=../fixed/x.npy"
FED = f"{FEED} --feed=batch=../fixed/batch.npy,cycle"
REPLAYS = [
    "ad-runner --cache=off --replay=trace",
    "ad-runner --cache=off --replay=trace --target=reference --out-dir=out",
    "ad-runner --cache=off --replay=trace --trace=new",
    "python replay trace",
]
RUNS = [
    "ad-diff runs trace ../fixed/trace",
    "ad-diff runs ../fixed/trace trace --json=- --html=page.html",
    "ad-diff align trace ../fixed/trace",
    "python runs trace ../fixed/trace",
    "python read_trace trace",
]
COMPILE = [
    "ad-opt changed.mlir -o out.mlir",
    "ad-opt changed.mlir --mlir-print-debuginfo",
    "ad-opt changed.mlir --emit-bytecode -o out.mlirbc",
    "ad-opt changed.mlir --ad-to-cpu -o out.mlir",
    "ad-opt changed.mlir --canonicalize --ad-simplify --verify-roundtrip -o out.mlir",
    "ad-opt changed.mlir --split-input-file --ad-print-graph",
    "python compile changed.mlir target=gpu-sim",
    "python compile_text changed.mlir",
]
EDIT = ["ad-lsp-server -lit-test < session.lsp"]
RUN_PROGRAM = [
    "ad-runner changed.mlir --cache=off --print {given}",
    "ad-runner changed.mlir --cache=off --target=reference {given}",
    "ad-runner changed.mlir --cache=off --target=gpu-sim --out-dir=out {given}",
    "ad-runner changed.mlir --cache=off --trace=new --list-rewrites=list.tsv {given}",
    "ad-runner changed.mlir --cache=off --dump-optimized=o.mlir --numerics-report=n.json --dump-plan=p.mlir {given}",
    "ad-diff nan changed.mlir {given}",
    "ad-diff shadow changed.mlir {given}",
    "ad-diff align changed.mlir ../fixed/first.mlir {given}",
    "ad-diff stages changed.mlir --cache=off {given}",
    "ad-diff bisect changed.mlir --a=--target=reference --b=--numerics=fast {given}",
    "python call changed.mlir",
    "python nan changed.mlir",
    "python trace changed.mlir target=reference",
]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of files."""

    #: make(case, source) writes the changed file, and gives the options to run it.
    make: Callable
    commands: list
    #: How many cases of a turn are of this kind.
    weight: int = 1
    #: Else all files are refused.
    runs: bool = True
    #: MLIR's own reader fails on such files: what makes mlir-opt crash or hang, too, is counted and no failure.
    upstream: bool = False


KINDS = {
    "npy": Kind(makers.changed(file_formats.change_npy, "changed.npy", "x.npy"), [
        f"{RUN} --arg=x=changed.npy --print",
        f"{RUN} --target=reference --arg=x=changed.npy",
        f"{RUN} --target=gpu-sim --arg=x=changed.npy",
        "ad-diff tensors ../fixed/x.npy changed.npy --describe",
        "ad-diff tensors changed.npy ../fixed/x.npy --json=- --svg=x.svg --html=x.html",
        "ad-diff matrix changed.npy ../fixed/x.npy",
        "ad-diff nan ../fixed/first.mlir --arg=x=changed.npy",
        "adrt-run ../fixed/plain.adx --arg=x=changed.npy --print",
        f"{EMULATE} --arg changed.npy --arg out:f32:8 --arg i32:8 --out y.npy",
        f"{EMULATE} --arg inout:changed.npy --arg out:f32:8 --arg i32:8",
        "python tensors changed.npy ../fixed/x.npy",
    ], 2),
    "feed": Kind(makers.changed(file_formats.change_npy, "changed.npy", "batch.npy"), [
        f"{FEED} --feed=batch=changed.npy",
        f"{FEED} --feed=batch=changed.npy,cycle --print",
    ]),
    "program": Kind(makers.make_program, COMPILE + EDIT + RUN_PROGRAM, 4),
    "loop": Kind(makers.make_loop, COMPILE + EDIT),
    "bytecode": Kind(makers.make_bytecode, COMPILE + RUN_PROGRAM, 2, upstream=True),
    "deep bytecode": Kind(makers.make_deep_bytecode, COMPILE + RUN_PROGRAM, runs=False),
    "planted bytecode": Kind(makers.make_planted_bytecode, COMPILE + RUN_PROGRAM, 2),
    "kernel": Kind(makers.make_kernel, [
        "ad-gpu-emulate changed.mlir --kernel nosuch",
        "ad-gpu-emulate changed.mlir --arg f32:1",
    ], runs=False),
    "adx": Kind(makers.make_adx, ["adrt-run changed.adx --print {given}", "adrt-run changed.adx --out-dir=out {given}",
                           "ad-runner changed.adx --repeat=2 {given}"]),
    "run.json": Kind(makers.in_trace(file_formats.change_json, "run.json"), REPLAYS * 2 + RUNS, 3),
    "records.tsv": Kind(makers.in_trace(file_formats.change_table, "records.tsv"), [
        *RUNS, "ad-diff align trace/records.tsv ../fixed/trace/records.tsv"]),
    "links": Kind(makers.make_links, REPLAYS + RUNS, 2),
    "policy": Kind(makers.changed(file_formats.change_policy, "changed.yaml", "policy.yaml"), [
        f"{FED} --precision=changed.yaml",
        f"{FED} --precision=changed.yaml --target=reference --trace=new",
        "ad-diff precision ../fixed/first.mlir --policy=changed.yaml --bound=l2=0.1 --arg=x=../fixed/x.npy",
        "ad-opt ../fixed/first.mlir --ad-autocast=policy=changed.yaml -o out.mlir",
        "python compile ../fixed/first.mlir precision=changed.yaml",
    ]),
    "traced policy": Kind(makers.in_trace(file_formats.change_policy, "precision.yaml"), REPLAYS),
    "rewrites": Kind(makers.changed(file_formats.change_table, "changed.tsv", "rewrites.tsv"), [
        f"{FED} --rewrites-only=changed.tsv",
        f"{FED} --rewrites-except=changed.tsv",
        f"{FED} --rewrites-only=changed.tsv --trace=new --target=gpu-sim",
    ]),
    "traced rewrites": Kind(makers.in_trace(file_formats.change_table, "rewrites-only.tsv"), REPLAYS),
    "output": Kind(makers.make_output, [
        f"{FED} --out-dir=out",
        "adrt-run ../fixed/plain.adx --arg=x=../fixed/x.npy --out-dir=out",
        "ad-diff tensors out ../fixed/out",
        "python tensors out ../fixed/out",
    ]),
}
TURN = [name for name, kind in KINDS.items() for _ in range(kind.weight)]


def choose(number, python):
    """The kind and the command of a case: in turn, so that each command of a kind has as many cases. `python` says
    whether the package is there."""
    turn, at = divmod(number, len(TURN))
    name = TURN[at]
    kind = KINDS[name]
    commands = [command for command in kind.commands if python or not command.startswith("python ")]
    return name, commands[(turn * kind.weight + at - TURN.index(name)) % len(commands)]
