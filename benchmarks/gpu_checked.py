# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Our side of graphs and workloads: a program is timed after its results were held against the peer's
(gpu_graph_peers.py), and the slowest are run once more with each kernel timed."""

import contextlib
import json
import pathlib
import pickle
import tempfile

import gpu_ours
from gpu_ours import Failed, ratios

PARTS = {"graphs": "graph", "workloads": "workload"}  # with the kind of their rows
REPEAT, START_SECONDS = 20, 60
SLOWEST, BEHIND = 8, 1.0  # so many programs, of those below this ratio, are looked into
KERNELS = 5  # of each


def program_name(part, number):
    return f"{PARTS[part]}{number}"


def profiled(name):
    """The program that times its kernels."""
    return f"{name}-kernels"


def load(folder):
    """The cases by part."""
    return pickle.loads((folder / "graphs.pickle").read_bytes())


def start_peer(peer, deadline):
    """(the name of its form, None), or (None, why there is none)."""
    try:
        return peer.ask({"do": "start"}, gpu_ours.processes.Deadline(deadline.clamp(START_SECONDS)))["form"], None
    except Failed as error:
        return None, str(error)


class Checked:
    """A contender: our program, compared before it is timed for the first time."""

    def __init__(self, folder, part, number, case, peer, inputs):
        self.folder, self.case, self.peer, self.inputs = folder, case, peer, inputs
        self.question = {"part": part, "number": number, "folder": str(inputs)}
        self.program, self.compared = program_name(part, number), None
        self.arguments = [f"--arg={each.name}={inputs / each.name}.npy" for each in case.arguments]

    def compare(self, deadline):
        self.peer.ask({**self.question, "do": "inputs"}, deadline)
        out = self.inputs / "out"
        done = gpu_ours.processes.run([*gpu_ours.command(self.folder, self.program, self.arguments), "--out-dir", out],
                                      deadline.remaining())
        if not done.ok():
            raise Failed(done.complaint())
        return self.peer.ask({**self.question, "do": "compare", "folder": str(out)}, deadline)

    def __call__(self, deadline):
        if not self.compared:
            self.compared = self.compare(deadline)
        timed = gpu_ours.Program(self.folder, self.program, self.arguments, 1, REPEAT)(deadline)
        return {**timed, "error": self.compared["error"], "peer_error": self.compared["peer_error"]}


@contextlib.contextmanager
def inputs_of(peer):
    """A folder for the arrays of a case, of which no one keeps a copy."""
    with tempfile.TemporaryDirectory() as name:
        yield pathlib.Path(name)
        with contextlib.suppress(Failed):
            if peer.process:
                peer.ask({"do": "forget", "part": "graphs", "number": 0}, gpu_ours.processes.Deadline(START_SECONDS))


def cases_of(part, folder, plan, peer, form):
    """(name, what is known, contenders) of each case. The peer has the inputs only after ours has been compared."""
    for number, case in enumerate(load(folder)[part]):
        known = {"kind": PARTS[part], "flops": case.flops, "bytes": case.bytes, "seed": plan["seed"], "number": number,
                 "mode": case.mode}
        with inputs_of(peer) as inputs:
            yield case.name, known, {
                "ours": Checked(folder, part, number, case, peer, inputs),
                form: peer.contender(part=part, number=number, do="time")}


def ratio_of(row):
    """Ours compared with the peer that is not ours; None where one is missing."""
    seconds = {name: value for name, value in row["seconds"].items() if not name.startswith("ours")}
    return min(seconds.values()) / row["seconds"]["ours"] if seconds and row["seconds"].get("ours") else None


def source(argument):
    """Numbers of some kind: the times of kernels do not depend on them."""
    return f"--arg={argument.name}={'zeros' if argument.element.startswith('i') else 'uniform:1'}"


def kernels_of(folder, part, number, case, deadline):
    """(name, seconds of a run, calls in it) of the kernels that take most of the time."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "report.json"
        command = gpu_ours.command(folder, profiled(program_name(part, number)), map(source, case.arguments))
        done = gpu_ours.processes.run([*command, "--warmup", 1, "--repeat", 3, "--report", path], deadline.remaining())
        if not done.ok():
            raise Failed(done.complaint())
        report = json.loads(path.read_text())
    runs = len(report["runs"])
    kernels = sorted(report["kernels"], key=lambda kernel: -kernel["seconds"])[:KERNELS]
    return [[kernel["name"], kernel["seconds"] / runs, kernel["calls"] / runs] for kernel in kernels]


def look_into(folder, part, found, sink, deadline, row_seconds):
    """A row with the kernels of each of the slowest programs."""
    cases = {case.name: (number, case) for number, case in enumerate(load(folder)[part])}
    slow = sorted((row for row in found if (ratio_of(row) or BEHIND) < BEHIND), key=ratio_of)[:SLOWEST]
    for row in slow:
        if deadline.over():
            sink(kind="note", text=f"kernels not timed, the time is over: {row['case']}")
            continue
        try:
            kernels = kernels_of(folder, part, *cases[row["case"]], gpu_ours.processes.Deadline(
                deadline.clamp(row_seconds)))
        except Failed as error:
            sink(kind="note", text=f"kernels not timed: {row['case']}: {error}")
            continue
        sink(kind="kernels", case=row["case"], ratio=ratio_of(row), kernels=kernels)
        print(f"  {ratio_of(row):.2f}x: {row['case'][:76]}: " + ", ".join(
            f"{name} {1e6 * seconds:.1f} us" for name, seconds, _ in kernels), flush=True)


def verdicts(rows):
    """(what, measured, target, whether it is met) of the random graphs among the rows, and their number."""
    found = [ratio for row in rows if row["kind"] == "graph" and (ratio := ratio_of(row))]
    return (ratios.verdicts(found) if found else []), len(found)
