#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels and training steps on an NVIDIA GPU: ours compared with cuBLAS (PyTorch), torch.compile and JAX.

A machine with a GPU often has no compiler of ours, so making and measuring can be apart: --make FOLDER compiles
everything ahead of time and puts what is needed next to it; gpu.py --from FOLDER measures there. Without either both
happen here. A kernel is applied to its own result again and again in one program, whose time by CUDA events (adrt-run
--bench) is divided by the steps; sums, whose result is smaller, run alone. Contractions of bf16 are `fast`, so that
tensor cores may sum; those of f32 are measured in `strict`, and with `narrow` as tf32; all else is `strict`. Training
runs once more with kernels launched one by one (`ours-one-by-one`): what replaying is worth.

Random graphs (gpu_graphs.py) and workloads of users (gpu_workloads.py) run against eager PyTorch in a CUDA graph, after
their results were compared. The seed of the graphs is fresh for each folder that is made, and printed; --seed draws
them again. The slowest are run once more with the time of each kernel.
"""

import argparse
import json
import pathlib
import secrets
import statistics
import sys
import tempfile

import gpu_checked
import gpu_ours
import gpu_training
import gpu_worker
import measure as closing
from gpu_kernels import LARGE, SMALL, kernels, tiles
from gpu_ours import jsonlines, processes

NAME = "gpu"
ROUNDS = 3
NO_DEVICE = 4
# That a row of each part may take with all of its peers. Those of a training step compile for long; four such rows fit
# into a stage.
ROW_SECONDS = {"graphs": 20, "workloads": 30, "tiles": 60, "kernels": 60, "training": 110}
PARTS = list(ROW_SECONDS)
EMULATED = 4  # how many times longer than on a GPU a graph may take
COUNT = 60  # random graphs


def peers_of(folder, plan):
    device = "cuda" if plan["target"] == "cuda" else "cpu"
    return {name: gpu_worker.Worker(name, folder, device) for name in ("torch", "jax", "numpy")}


def peer_of_graphs(plan, peers, deadline):
    """(the peer, the name of its form, why there is none). NumPy takes the place of PyTorch only where no GPU is."""
    for name in ("torch",) if plan["target"] == "cuda" else ("torch", "numpy"):
        form, why = gpu_checked.start_peer(peers[name], deadline)
        if form:
            return peers[name], form, None
    return None, None, why


def kernel_cases(folder, plan, peers):
    for number, kernel in enumerate(kernels(plan)):
        contenders = {"ours": gpu_ours.Program(folder, f"kernel{number}", kernel.arguments(), kernel.steps,
                                               kernel.repeat)}
        torch_forms = ["cublas" if kernel.flops else "torch-eager",
                       *([] if kernel.flops else ["torch-compile", "copy"]),
                       *(["torch-autotune"] if kernel.autotuned else [])]
        contenders.update({form: peers["torch"].contender(kernel=number, form=form) for form in torch_forms})
        contenders["jax"] = peers["jax"].contender(kernel=number, form="jax")
        yield str(kernel), {"kind": "kernel", "flops": kernel.flops, "bytes": kernel.bytes,
                            "steps": kernel.steps}, contenders


def tile_cases(folder, plan, peers):
    """The largest product in each form, and one measurement of cuBLAS."""
    for number, (tile, kernel) in enumerate(tiles(plan)):
        if not (folder / f"tile-{tile}.adx").exists():
            continue
        contenders = {"ours": gpu_ours.Program(folder, f"tile-{tile}", kernel.arguments(), kernel.steps, kernel.repeat)}
        if number == 0:
            contenders["cublas"] = peers["torch"].contender(tile=tile, form="cublas")
        yield f"{kernel} by {tile}", {"kind": "tile", "flops": kernel.flops, "tile": tile,
                                      "steps": kernel.steps}, contenders


def training_cases(folder, plan, peers, inputs):
    for case, name, steps in gpu_training.cases(plan):
        contenders = gpu_training.our_contenders(folder, inputs / case, case, steps, plan)
        for peer, (_, methods) in gpu_training.forms(case).items():
            for form in methods:
                contenders[form] = peers[peer].contender(training=case, peer=peer, form=form, device=peers[peer].device)
        yield name, {"kind": "training", "steps": steps}, contenders


def cases_of(part, folder, plan, peers, inputs, deadline):
    if part in gpu_checked.PARTS:
        peer, form, why = peer_of_graphs(plan, peers, deadline)
        if why:
            raise Unavailable(f"{part} are not measured: {why}")
        return gpu_checked.cases_of(part, folder, plan, peer, form)
    if part == "kernels":
        return kernel_cases(folder, plan, peers)
    return tile_cases(folder, plan, peers) if part == "tiles" else training_cases(folder, plan, peers, inputs)


class Unavailable(Exception):
    """What a part needs is not here."""


def is_slow(form):
    """Peers that compile for long: minutes of a run, which others do not need."""
    return form.startswith(("jax", "torch-compile", "torch-autotune"))


def take_turns(contenders, rounds, deadline):
    """(answers by name, reasons by name). Each round starts with another contender; one that fails is not called again."""
    answers, failed = {name: [] for name in contenders}, {}
    for number in range(rounds):
        names = [name for name in contenders if name not in failed]
        first = number % len(names) if names else 0
        for name in names[first:] + names[:first]:
            if number and deadline.over():
                break
            try:
                answers[name].append(contenders[name](deadline))
            except gpu_ours.Failed as error:
                failed[name] = str(error)
    return {name: found for name, found in answers.items() if found}, failed


def row_of(case, known, answers, failed):
    def of_first(key):
        return {name: found[0][key] for name, found in answers.items() if key in found[0]}

    return {"case": case, **known, "seconds": {name: statistics.median(each["seconds"] for each in found) for name,
                                               found in answers.items()},
            "rounds": max(map(len, answers.values()), default=0), "failed": failed,
            **{key: of_first(key) for key in ("clock", "launches", "version", "device")},
            **{key: answers["ours"][0][key] for key in ("error", "peer_error") if key in answers.get("ours", [{}])[0]}}


def measure(folder, part, sink, deadline, only="", rounds=ROUNDS, patience=1, slow=None):
    """Whether a contender of ours failed. `sink` gets a row as soon as it is known. `patience` scales what a row may take.
    `slow`: peers that compile for long alone, as rows of a kind of their own, or all others; both if None."""
    plan = json.loads((folder / "gpu.json").read_text())
    peers = peers_of(folder, plan)
    if part in gpu_checked.PARTS and plan["target"] != "cuda":
        patience *= EMULATED
    failed, row_seconds, found = False, patience * ROW_SECONDS[part], []
    # The rest is for the kernels of the slowest.
    until = processes.Deadline(0.85 * deadline.remaining()) if part in gpu_checked.PARTS else deadline
    with tempfile.TemporaryDirectory() as inputs:
        try:
            for case, known, contenders in cases_of(part, folder, plan, peers, pathlib.Path(inputs), until):
                if only not in case:
                    continue
                if slow is not None:
                    contenders = {form: each for form, each in contenders.items() if is_slow(form) == slow}
                    known = {**known, "kind": known["kind"] + "-peers"} if slow else known
                if until.over():
                    sink(kind="note", text=f"not measured, the time is over: {case}")
                    continue
                row = row_of(case, known, *take_turns(contenders, rounds,
                                                      processes.Deadline(until.clamp(row_seconds))))
                if processes.ended.is_set():
                    break
                sink(**row)
                found.append(row)
                failed |= any(name.startswith("ours") for name in row["failed"])
                show(row)
            if part in gpu_checked.PARTS:
                gpu_checked.look_into(folder, part, found, sink, deadline, row_seconds)
        except Unavailable as error:
            sink(kind="note", text=str(error))
            print(f"{NAME}: {error}", flush=True)
        finally:
            for peer in peers.values():
                peer.stop()
    return failed


def show(row):
    rate, unit = (row["flops"] / 1e12, "TFLOP/s") if row.get("flops") else (row.get("bytes", 0) / 1e9, "GB/s")
    cells = " ".join(f"{name} {1e6 * seconds:.1f} us" + (f" ({rate / seconds:.0f} {unit})" if rate else "") for name,
                     seconds in row["seconds"].items())
    print(f"{row['case']:28} {cells}", flush=True)
    for name, reason in row["failed"].items():
        if name.startswith("ours"):
            print(f"FAILED: {row['case']}: {name}: {reason}", flush=True)


def command_of(folder, name):
    """The command that runs a kernel a few times, launch by launch, for a profiler; None when there is no such kernel."""
    plan = json.loads((folder / "gpu.json").read_text())
    for number, kernel in enumerate(kernels(plan)):
        if str(kernel) == name:
            one_by_one = ["--no-replay"] if plan["target"] != "cpu" else []
            return gpu_ours.command(folder, f"kernel{number}",
                                    [*kernel.arguments(), *one_by_one, "--bench", "--warmup", 2, "--repeat", 1])
    return None


def close(found, target):
    verdicts, count = gpu_checked.verdicts(found)
    for what, value, wanted, met in verdicts:
        verdict = f", target {wanted}: {'met' if met else 'missed'}" if target == "cuda" else ""
        print(f"{NAME}: {what} of {count} random graphs: {value:.2f}x of the peer{verdict}")
    for row in found:
        if row["kind"] == "kernels":
            continue
        for name, value in row["seconds"].items():
            if name != "ours" and "ours" in row["seconds"]:
                closing.close(NAME, value / row["seconds"]["ours"], name, row["case"])


def measure_all(folder, options):
    """The exit code. What has been measured is written after each case."""
    plan = json.loads((folder / "gpu.json").read_text())
    said = processes.run([gpu_ours.runner_of(folder), "--env"], ROW_SECONDS["kernels"]).said
    if plan["target"] == "cuda" and "GPU: none: " in said:
        print(f"{NAME}: {said[said.index('GPU: none: '):].splitlines()[0]}; measure where there is a GPU: scripts/gpu.sh pack", file=sys.stderr)
        return NO_DEVICE
    found, notes, file, failed = [], [], jsonlines.Rows(options.rows), False
    print(f"{NAME}: random graphs of seed {plan['seed']}", flush=True)

    def sink(**row):
        file.add(**row)
        if row["kind"] == "note":
            notes.append(row["text"])
        else:
            found.append(row)
            closing.write_json(options, found)

    deadline = processes.Deadline(options.seconds)
    for part in options.part or plan["parts"]:
        failed |= measure(folder, part, sink, deadline, options.only, options.rounds)
    close(found, plan["target"])
    if not found and any("are not measured: " in note for note in notes):
        return NO_DEVICE
    return 1 if failed or not found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the measurements there")
    parser.add_argument("--rows", type=pathlib.Path, metavar="FILE.jsonl",
                        help="append a line for each as soon as it is known")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds that count (default: {ROUNDS})")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name contains TEXT")
    parser.add_argument("--part", action="append", choices=PARTS, help="make or measure only this part; may be given several times")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="S",
                        help="begin no case after so many seconds")
    parser.add_argument("--make", type=pathlib.Path, metavar="FOLDER",
                        help="compile, and put everything into a new folder")
    parser.add_argument("--from", dest="made", type=pathlib.Path, metavar="FOLDER", help="measure what --make has made")
    parser.add_argument("--target", choices=["cuda", "gpu-sim"], default="cuda",
                        help="gpu-sim: small cases, to test this program")
    parser.add_argument("--small", action="store_true", help="small cases for any target")
    parser.add_argument("--chip", default="sm_90a", help="what code may use (default: sm_90a)")
    parser.add_argument("--seed", type=int, help="of the random graphs that are made (default: a fresh one)")
    parser.add_argument("--count", type=int, default=COUNT, help=f"random graphs that are made (default: {COUNT})")
    options = parser.parse_args()
    if options.made:
        return measure_all(options.made.resolve(), options)
    import gpu_make

    extent = LARGE if options.target == "cuda" and not options.small else SMALL
    if options.target == "cuda" and options.small:  # the block is too much for an emulated GPU
        extent = {**SMALL, "block": [1, 8]}
    seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
    extent = {**extent, "small": extent["sizes"] == SMALL["sizes"], "seed": seed, "graphs": options.count}
    print(f"{NAME}: making random graphs of seed {seed}", flush=True)
    if options.make:
        gpu_make.make(options.make.resolve(), options.target, options.chip, extent, options.part or PARTS)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made"
        gpu_make.make(made, options.target, options.chip, extent, options.part or PARTS)
        return measure_all(made, options)


if __name__ == "__main__":
    sys.exit(main())
