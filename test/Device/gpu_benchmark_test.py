#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The benchmark for GPUs on the emulated one, where no peer has to be installed: a case that fails is named and the
others are measured; peers that hang, die or are missing cost no other row. What is expected of a first run names cases
that there are. Closes with `gpu-benchmark: N run, N failed`."""

import json
import re
import subprocess
import sys

import bundles
from bundles import ROOT

import checks
import gpu
import gpu_kernels
import gpu_ours
import gpu_worker
import processes
from expectations import judge_cases, judge_speeds


def failing_case(folder):
    """The others are measured and written."""
    command = [sys.executable, ROOT / "benchmarks" / "gpu.py"]
    subprocess.run([*command, "--target", "gpu-sim", "--make", folder / "made", "--part", "kernels"], check=True)
    number = [str(kernel) for kernel in gpu_kernels.kernels(gpu_kernels.SMALL)].index("softmax f32 32x64")
    (folder / "made" / f"kernel{number}.adx").write_bytes(b"")
    done = subprocess.run([*command, "--from", folder / "made", "--rounds", "1", "--part", "kernels", "--only",
                           "32x64", "--json", folder / "rows.json", "--rows",
                           folder / "rows.jsonl"], capture_output=True, text=True)
    found = json.loads((folder / "rows.json").read_text())
    if done.returncode != 1 or "FAILED: softmax f32 32x64: ours: " not in done.stdout:
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    times = {row["case"]: "ours" in row["seconds"] for row in found}
    if times != {"softmax f32 32x64": False, "layer_norm f32 32x64": True, "gelu f32 32x64": True}:
        yield f"measured {times}"
    if [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()] != found:
        yield "the lines are not the rows"


def answer_of(worker, seconds):
    try:
        return worker.ask({"kernel": 0, "form": "cublas"}, processes.Deadline(seconds))
    except gpu_ours.Failed as error:
        return str(error)


def peers(folder):
    """A package in the place of PyTorch, which hangs, then dies, then is not there, then raises, then answers."""
    (folder / "gpu.json").write_text(json.dumps({"target": "gpu-sim", "chip": "sm_90a", **gpu_kernels.SMALL}))
    worker = gpu_worker.Worker("torch", folder, "cpu")
    worker.environment["PYTHONPATH"] = str(folder)
    expected = [("import time; time.sleep(60)", 1, "the time of the row is over"),
                ("raise SystemExit(3)", 60, "torch has ended: no answer"),
                ("__version__ = '0'\nfloat32 = bfloat16 = None\ndef __getattr__(name): raise RuntimeError('no ' + name)", 60, "no "),
                ("raise ImportError('none here')", 60, "torch is not installed (none here)")]
    try:
        for text, seconds, wanted in expected:
            worker.stop()
            (folder / "torch.py").write_text(text)
            said = answer_of(worker, seconds)
            if wanted not in said:
                yield f"expected '{wanted}', got {said}"
        if answer_of(worker, 0) != "torch is not installed (none here)":
            yield "a peer that is missing is started again"
    finally:
        worker.stop()


def rounds(folder):
    """Medians of rounds; a contender that fails is called once, and when the time is over every one has been called
    once."""
    calls = []

    def contender(name, *answers):
        left = list(answers)

        def ask(_deadline):
            calls.append(name)
            answer = left.pop(0)
            if isinstance(answer, str):
                raise gpu_ours.Failed(answer)
            return {"seconds": answer, "clock": "a clock"}
        return ask

    answers, failed = gpu.take_turns({"ours": contender("ours", 3, 1, 2), "peer": contender("peer", "broken")}, 3,
                                     processes.Deadline())
    row = gpu.row_of("a case", {"kind": "kernel"}, answers, failed)
    if (row["seconds"] != {"ours": 2} or row["failed"] != {"peer": "broken"} or row["clock"] != {"ours": "a clock"}
            or calls.count("peer") != 1):
        yield f"got {row}, calls {calls}"
    answers, _ = gpu.take_turns({"ours": contender("ours", 3, 1, 2), "peer": contender("peer", 1, 1, 1)}, 3,
                                processes.Deadline(0))
    if {name: len(each) for name, each in answers.items()} != {"ours": 1, "peer": 1}:
        yield f"after the deadline {answers}"


def expected(folder):
    """Every case that is expected to have a speed is measured, and every pattern names cases; verdicts follow the
    ranges."""
    table = json.loads((bundles.HERE / "expectations.json").read_text())
    plan = gpu_kernels.LARGE
    known = {("kernel", str(kernel)) for kernel in gpu_kernels.kernels(plan)}
    known |= {("tile", f"{kernel} by {tile}") for tile, kernel in gpu_kernels.tiles(plan)}
    for each in table["speeds"]:
        if (each["kind"], each["case"]) not in known:
            yield f"nothing measures {each['case']}"
    names = ["smoke-tf32-map-fast-narrow", "dot-35x33x60-nt-i8-0", "dot-64x64x64-nn-bf16-0-fast", "smoke-graph-cluster",
             "graphs-8"]
    for each in table["cases"]:
        if not any(re.search(each["pattern"], name) for name in names):
            yield f"no case is meant by {each['pattern']}"
    speed = {"case": "a by b", "kind": "tile", "peer": "cublas", "low": 0.8, "high": 0.9, "why": ""}
    of_peer = {"case": "a by c", "kind": "tile", "seconds": {"ours": 1, "cublas": 1.0}}
    for ours, verdict in {1.3: "refuted: slower", 1.2: "confirmed", 1.0: "refuted: faster",
                          None: "not measured"}.items():
        row = {"case": "a by b", "kind": "tile", "seconds": {"ours": ours} if ours else {}}
        if (given := next(judge_speeds([speed], [row, of_peer]))[3]) != verdict:
            yield f"{ours} s is {given}, expected {verdict}"
    case = {"what": "", "pattern": "^a", "why": ""}
    for status, verdict in {("passed",): "confirmed", ("passed", "skipped"): "confirmed as far as it ran",
                            ("passed", "hung"): "refuted",
                            ("skipped",): "not measured"}.items():
        if (given := next(judge_cases([case], [{"name": "a", "status": one} for one in status]))[3]) != verdict:
            yield f"{status} is {given}, expected {verdict}"


def main():
    return checks.run_checks("gpu-benchmark", [("a case that fails", failing_case), ("peers that fail", peers),
                                               ("rounds", rounds), ("expectations", expected)])


if __name__ == "__main__":
    sys.exit(main())
