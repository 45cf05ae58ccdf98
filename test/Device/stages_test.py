#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The five stages of a first run on a GPU, rehearsed: on the emulated GPU, where every case passes, and on a driver
that computes nothing, where all fail; with a case that hangs, one that crashes, a stage that is killed, and a disk that
is full. Closes with `stages: N run, N failed`."""

import collections
import functools
import json
import os
import pathlib
import resource
import signal
import sys
import tarfile
import time

import bundles

import checks
import gpu_checked
import gpu_kernels
import gpu_workloads
import jsonlines
import report
import run
import stages

MAX_FILES, MAX_BYTES = 6, 16 << 20  # that come back from a machine
WORKLOADS = len(list(gpu_workloads.cases(small=True)))
# Four classes; of the first there are several cases.
CASES = "dot-5x7x0"


def found(out, number):
    return jsonlines.read(out / f"stage{number}.jsonl")[0]


def of(kind, found_rows):
    return [row for row in found_rows if row["kind"] == kind]


def page_of(out):
    process = bundles.subprocess.run([sys.executable, bundles.HERE / "report.py", out], capture_output=True, text=True)
    return process.stdout if process.returncode == 0 else f"exit code {process.returncode}: {process.stderr}"


def too_much(out):
    files = [file for file in out.rglob("*") if file.is_file()]
    if len(files) > MAX_FILES or any(file.stat().st_size > MAX_BYTES for file in files):
        yield f"too much to carry: {[(file.name, file.stat().st_size) for file in files]}"


def missing_words(page, words):
    return [f"the page lacks '{word}': {page}" for word in words if word not in page]


def on_emulated(folder):
    """All stages, one after the other."""
    made = bundles.make(folder / "bundle", "smoke")
    bundles.add_benchmarks(made)
    code, said = bundles.run(made, "--out", folder / "out", "--case-seconds", 60)
    if code:
        yield f"exit code {code}: {said}"
    for number, kinds in {1: {"environment": 1, "case": 15, "tile": 2},
                          2: {"workload": WORKLOADS, "graph": bundles.GRAPHS},
                          3: {"kernel": 13, "training": 2}, 4: {"note": 2},
                          5: {"kernel-peers": 13, "training-peers": 2}}.items():
        counts = collections.Counter(row["kind"] for row in found(folder / "out", number))
        if any(counts[kind] != count for kind, count in {**kinds, "begin": 1, "end": 1}.items()):
            yield f"stage {number} has the rows {dict(counts)}"
    wrong = [row for number in (1, 2, 3) for row in found(folder / "out", number)
             if row.get("status") not in (None, "passed", "done")
             or any(name.startswith("ours") for name in row.get("failed", {}))]
    if wrong:
        yield f"expected no failures, got {wrong}"
    for row in [*of("kernel", found(folder / "out", 3)), *of("graph", found(folder / "out", 2))]:
        if row["clock"]["ours"] != "monotonic" or not row["seconds"]["ours"] > 0:
            yield f"expected the host's clock, got {row}"
    for row in of("kernels", found(folder / "out", 2)):
        if not row["kernels"] or not all(seconds > 0 and calls >= 1 for _, seconds, calls in row["kernels"]):
            yield f"expected times of kernels, got {row}"
    yield from too_much(folder / "out")
    yield from missing_words(page_of(folder / "out"), [
        "15 programs: 15 passed.", "3 of 3 passed | confirmed", "| gelu f32 64x64 |", "# the emulated GPU, ",
        f"{bundles.GRAPHS} graphs of seed 1, {bundles.GRAPHS} with a peer", "| 10th percentile |", "| Adam 500 parameters |",
        "## Kernels of slow programs"])


def limits(_):
    """All stages fit a loan of 15 minutes, start included, and the peers that compile for long come last."""
    if sum(run.SECONDS.values()) > 660 or list(run.SECONDS) != list(stages.STAGES):
        yield f"the stages take {run.SECONDS}"
    if list(stages.STAGES.values())[:2] != [stages.what_works, stages.programs]:
        yield "correctness, then graphs and workloads are not the first stages"
    if stages.STAGES[max(stages.STAGES)] is not stages.slow_peers:
        yield "the slow peers are not the last stage"


def peers_in_two_stages(_):
    """The page has both in one row, and a case that only peers have measured says so."""
    ours = {"case": "a", "seconds": {"ours": 1.0}, "failed": {"cublas": "no"}}
    other = {"case": "a", "seconds": {"jax": 2.0}, "failed": {"torch-compile": "late"}}
    both, alone = report.with_slow_peers([ours], [other, {**other, "case": "b"}])
    if both["seconds"] != {"ours": 1.0, "jax": 2.0} or both["failed"] != {"cublas": "no", "torch-compile": "late"}:
        yield f"one row is {both}"
    if alone["seconds"] != {"jax": 2.0}:
        yield f"the other is {alone}"


def on_fake_cuda(folder):
    """The commands reach the driver, and nothing is right: all is repeated and reported. Findings of the sanitizer fail
    no stage."""
    made = bundles.make(folder / "bundle", "smoke", "cuda")
    bundles.add_benchmarks(made, "cuda")
    bundles.tool(folder / "tools", "compute-sanitizer", 'echo "an invalid read"; exit 99')
    bundles.tool(folder / "tools", "ncu", 'echo "Duration 1 us, $(basename "${@: -7:1}")"')
    environment = bundles.environment(ADJOINT_LIBCUDA=bundles.FAKE_CUDA, AD_FAKE_CUDA_CHIP=90,
                                      PATH=f"{folder / 'tools'}:{os.environ['PATH']}")
    codes = [bundles.run(made, "--stage", number, "--out", folder / "out", env=environment)[0]
             for number in (1, 2, 3, 4, 5)]
    if codes != [1, 0, 0, 0, 0]:
        yield f"exit codes {codes}"
    rows = {number: found(folder / "out", number) for number in (1, 2, 3, 4)}
    status = collections.Counter((row["kind"], row["status"]) for row in rows[1] if "status" in row)
    if status != {("case", "failed"): 15, ("again", "failed"): 15, ("sanitizer", "finding"): 15, ("end", "done"): 1}:
        yield f"expected failures, got {status}"
    if not all(row["how"] == "--no-replay" for row in of("again", rows[1])):
        yield "failures are not repeated without replay"
    with tarfile.open(folder / "out" / "wrong.tar") as archive:
        if not any(name.startswith("smoke-elementwise/") for name in archive.getnames()):
            yield f"the archive holds {archive.getnames()}"
    added = of("accumulation", rows[1])
    if len(added) != 4 or any(row["equal"] is not None or not row["wrong"] for row in added):
        yield f"results that are no sums are not known to be wrong: {added}"
    if not any("are not measured: " in row["text"] for row in of("note", rows[2])):
        yield f"without a PyTorch for this GPU stage 2 says {rows[2]}"
    for row in [*of("kernel", rows[3]), *of("tile", rows[1])]:
        if row["clock"].get("ours") != "cuda events" or abs(row["seconds"]["ours"] * row["steps"]
                                                            - 1.5e-3) > 1e-9 or "Fake GPU" not in row["device"]["ours"]:
            yield f"expected 1.5 ms by events, got {row}"
    launches = {row["launches"]["ours"] for row in of("training",
                                                      rows[3])}, {row["launches"]["ours-one-by-one"]
                                                                    for row in of("training", rows[3])}
    if launches != ({"replayed"}, {"one by one"}) or not any("Llama block" in row["case"]
                                                             for row in of("training", rows[3])):
        yield f"training is launched {launches}, {[row['case'] for row in of('training', rows[3])]}"
    sanitized = collections.Counter((row["tool"], row["status"]) for row in of("sanitizer", rows[4]))
    if sanitized != {("memcheck", "finding"): 15, ("synccheck", "finding"): 15} or len(of("note", rows[4])) != 3:
        yield f"stage 4 has {sanitized} and {of('note', rows[4])}"
    yield from too_much(folder / "out")
    yield from missing_words(page_of(folder / "out"), ["# Fake GPU, ", "15 programs: 15 failed.", "an invalid read",
                                                       "0 of 3 passed | refuted", "cuda events",
                                                       "| bf16 | n | unknown: no sums |"])


def hangs_and_crashes(folder):
    """After a hang the others of the class are skipped, those of other classes run; a crash has a name. Both are tried
    once more."""
    made = bundles.make(folder / "bundle", CASES)
    names = {case["class"]: [] for case in json.loads((made / "manifest.json").read_text())["cases"]}
    for case in json.loads((made / "manifest.json").read_text())["cases"]:
        names[case["class"]].append(case["name"])
    hanging, crashing = (next(each for kind, each in names.items() if element in kind) for element in ("bf16", "f32"))
    bundles.disturb(made, **{hanging[0]: "exec sleep 60", crashing[0]: "kill -SEGV $$"})
    code, said = bundles.run(made, "--stage", 1, "--out", folder / "out", "--jobs", 1, "--case-seconds", 2)
    status = {row["name"]: row["status"] for row in of("case", found(folder / "out", 1))}
    if code != 1 or len(hanging) < 2 or len(crashing) < 2:
        yield f"exit code {code}, {names}: {said}"
    for name in hanging:
        if status[name] != ("hung" if name == hanging[0] else "skipped"):
            yield f"{name}: {status[name]}, after a case that hangs"
    for name in crashing:
        if status[name] != ("crashed" if name == crashing[0] else "passed"):
            yield f"{name}: {status[name]}, next to a case that crashes"
    again = {row["name"]: row["status"] for row in of("again", found(folder / "out", 1))}
    if (again.get(hanging[0]), again.get(crashing[0])) != ("hung", "crashed") or "SIGSEGV" not in said:
        yield f"tried again: {again}; {said}"
    yield from missing_words(page_of(folder / "out"), [f"| {hanging[0]} |", "ran longer than 2 seconds", "SIGSEGV",
                                                       "another case of its class hung"])


def failures(found_rows):
    """What is said of ours in each row of a measurement, or None."""
    return {row["case"]: " ".join(text for name, text in row["failed"].items() if name.startswith("ours")) or None
            for row in found_rows}


def hangs_and_crashes_later(folder):
    """In stages 2 to 4, too, a program or a tool that hangs or crashes costs its own row, which says so, and no
    other."""
    made = bundles.make(folder / "bundle", "smoke-elementwise")
    bundles.add_benchmarks(made)
    checked = [case.name for case in gpu_checked.load(made / "benchmark")["graphs"]]
    names = [str(kernel) for kernel in gpu_kernels.kernels(gpu_kernels.SMALL)]
    hang, crash = "exec sleep 60", "kill -SEGV $$"
    bundles.disturb(made, kernel0=hang, kernel1=crash, digits=hang, encoder1=crash, graph1=hang, graph2=crash)
    bundles.tool(folder / "tools", "compute-sanitizer", f'case "$*" in *memcheck*) {hang} ;; esac; {crash}')
    bundles.tool(folder / "tools", "ncu",
                 f'case "$*" in */kernel0.adx*) {hang} ;; */kernel1.adx*) {crash} ;; esac; echo "Duration 1 us"')
    environment = bundles.environment(PATH=f"{folder / 'tools'}:{os.environ['PATH']}")
    options = ("--out", folder / "out", "--case-seconds", 2)
    codes = [bundles.run(made, "--stage", number, *options, env=environment)[0] for number in (2, 3)]
    graphs = failures(of("graph", found(folder / "out", 2)))
    expected = ["", "ran longer than", "SIGSEGV", *[""] * (bundles.GRAPHS - 3)]
    for name, part in zip(checked, expected, strict=True):
        if (part not in (graphs[name] or "")) if part else graphs[name]:
            yield f"{name}: expected '{part}', got '{graphs[name]}'"
    measured = failures(of("kernel", found(folder / "out", 3)))
    if codes != [1, 1] or list(measured) != names or any(measured[name] for name in names[2:]):
        yield f"exit codes {codes}, kernels {measured}"
    steps = failures(of("training", found(folder / "out", 3)))
    if len(steps) != 2:
        yield f"training steps {steps}"
    for name, said in [*measured.items(), *steps.items()]:
        crashes = name == names[1] or "encoder" in name
        expected = "ran longer than" if name == names[0] or "digits" in name else "SIGSEGV" if crashes else ""
        if expected not in (said or ""):
            yield f"{name}: expected '{expected}', got '{said}'"
    out = jsonlines.Rows(folder / "out" / "stage3.jsonl")  # where a peer is at hand, these three are the worst
    for number, name in enumerate(names[:3]):
        out.add(kind="kernel", case=name, seconds={"ours": 4 - number, "jax": 1}, failed={})
    code, said = bundles.run(made, "--stage", 4, *options, env=environment)
    last = found(folder / "out", 4)
    looked_at = {("ncu", row["case"], row["status"]) for row in of("ncu", last)}
    looked_at |= {(row["tool"], row["status"]) for row in of("sanitizer", last)}
    expected = {("memcheck", "hung"), ("synccheck", "crashed"),
                *(("ncu", *pair) for pair in zip(names, ("hung", "crashed", "passed")))}
    if code or looked_at != expected:
        yield f"exit code {code}, expected {expected}, got {looked_at}: {said}"
    yield from missing_words(page_of(folder / "out"), ["ran longer than", "SIGSEGV", "memcheck | hung",
                                                       "Duration 1 us"])


def wait_for_rows(folder, process, count):
    """Until so many cases are done, and the one that hangs has begun."""
    file = folder / "out" / "stage1.jsonl"
    while process.poll() is None:
        if (folder / "pids").exists() and file.exists() and len(of("case", jsonlines.read(file)[0])) >= count:
            return
        time.sleep(0.05)


def runs(pid):
    """Whether there is such a process; one that is dead may still have an entry."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ended_early(how, folder):
    """All rows but those of the cases that run are there, and the page says how the stage ended."""
    made = bundles.make(folder / "bundle", CASES)
    last = [case["name"] for case in json.loads((made / "manifest.json").read_text())["cases"]]
    bundles.disturb(made, **{last[-1]: f"echo $$ >>{folder}/pids; exec sleep 60"})
    signal.signal(signal.SIGINT,
                  signal.default_int_handler)  # the background of a script ignores it, and what that starts
    process = bundles.start(made, "--stage", 1, "--out", folder / "out", "--jobs", 2, "--case-seconds", 50,
                            *(["--seconds", 12] if how == "its deadline" else []))
    others = sum(1 for name in last if name != last[-1])
    wait_for_rows(folder, process, others)
    if how in ("SIGKILL", "SIGINT", "SIGTERM"):
        process.send_signal(getattr(signal, how))
    said, _ = process.communicate()
    expected = {"SIGKILL": (-signal.SIGKILL, None, "killed"), "its deadline": (1, "late", "ended by its deadline")}
    code, status, words = expected.get(how, (130, "interrupted", "interrupted"))
    kept, damaged = jsonlines.read(folder / "out" / "stage1.jsonl")
    passed = [row["name"] for row in of("case", kept) if row["status"] == "passed"]
    ends = [row["status"] for row in of("end", kept)]
    if process.returncode != code or damaged or len(passed) < others or ends != [status] * bool(status):
        yield f"exit code {process.returncode}, {len(passed)} of {others} passed, end {of('end', kept)}: {said}"
    cut = [row["status"] for row in of("case", kept) if row["name"] == last[-1]]
    if how == "its deadline" and cut[:1] != ["skipped"]:
        yield f"a case that the deadline cuts off is {cut}, expected skipped"
    yield from missing_words(page_of(folder / "out"), [f"| {words} |"])
    time.sleep(0.2)  # for the system, to end those whose starter was killed
    for pid in (folder / "pids").read_text().split():
        if runs(int(pid)):
            os.killpg(int(pid), signal.SIGKILL)
            yield f"process {pid} has been left behind"


def full_disk(folder):
    """Rows that cannot be written are printed, and the exit code says so; those that were written are whole."""
    made = bundles.make(folder / "bundle", "smoke-elementwise")
    code, said = bundles.run(made, "--stage", 1, "--out", folder / "out",
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)))
    kept, damaged = jsonlines.read(folder / "out" / "stage1.jsonl")
    if code != 2 or "cannot write" not in said or '"kind": "environment"' not in said or damaged or not kept:
        yield f"exit code {code}, {len(kept)} rows, {damaged} damaged: {said}"
    (folder / "file").write_text("")
    code, said = bundles.run(made, "--stage", 1, "--out", folder / "file" / "out")
    if code != 2 or "cannot make the folder" not in said:
        yield f"exit code {code}: {said}"


def damaged_results(folder):
    """What is whole is reported. Several runs of a stage in one file are told apart."""
    file = folder / "stage1.jsonl"
    out = jsonlines.Rows(file, stage=1)
    for date in ("yesterday", "today"):
        out.add(kind="begin", date=date, seconds=300, target="cuda", chip="sm_90a")
        out.add(kind="case", name=f"smoke-of-{date}", **{"class": "smoke"}, status="failed", detail="a | b\nc")
    with file.open("a") as end:
        end.write('{"kind": "case", "name": "smoke-cut-o')
    page = page_of(folder)
    yield from missing_words(page, ["| stage1 | today | 300 | ? | killed | 2 | 1 |", "1 programs: 1 failed.",
                                    "a \\| b c"])
    if "smoke-of-yesterday" in page:
        yield "the page is about an earlier run"
    file.write_text('{"kind"')
    if "has no results" not in page_of(folder):
        yield f"a file without rows gives {page_of(folder)}"
    out = jsonlines.Rows(folder / "large.jsonl")
    for _ in range(MAX_BYTES // jsonlines.MAX_TEXT + 10):
        out.add(kind="case", detail="x" * (3 * jsonlines.MAX_TEXT))
    if (folder / "large.jsonl").stat().st_size > MAX_BYTES or not out.broken:
        yield "a file grows without end"


def main():
    with open(os.devnull, "w") as nowhere:
        checks_of_files = functools.partial(quietly, damaged_results, nowhere)
        return checks.run_checks("stages", checks.sample([
            ("limits", limits),
            ("peers in two stages", peers_in_two_stages),
            ("on the emulated GPU", on_emulated),
            ("on a driver that computes nothing", on_fake_cuda),
            ("a case that hangs and one that crashes", hangs_and_crashes),
            ("measurements and tools that hang or crash", hangs_and_crashes_later),
            *((f"a stage ended by {how}", functools.partial(ended_early, how))
              for how in ("SIGKILL", "SIGINT", "SIGTERM", "its deadline")),
            ("a full disk", full_disk),
            ("damaged results", checks_of_files)], 6))


def quietly(check, nowhere, folder):
    """Rows without a place are printed, which is no output of this test."""
    printed, sys.stdout = sys.stdout, nowhere
    try:
        return list(check(folder))
    finally:
        sys.stdout = printed


if __name__ == "__main__":
    sys.exit(main())
