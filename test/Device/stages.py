# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The five stages of a first run on a GPU. Each takes a Stage and says whether something of ours failed."""

import pathlib
import sys
import tempfile

import cases
import judge
import processes
import jsonlines
import tools

SANITIZER_SLOWDOWN, NCU_SLOWDOWN = 4, 6  # how many times longer than a case a program may take under these tools
FINDING = 99  # exit code of compute-sanitizer for what it finds; other codes are the program's
ACCUMULATION_SLOWDOWN = 4
MAX_AGAIN = 24  # failing cases that are looked into
WORST = ["gelu f32 16384x4096", "dot bf16 1024x1024",
         "softmax f32 16384x4096"]  # as expected, where nothing is measured
NCU = ["--clock-control", "none", "--launch-skip", "2", "--launch-count", "2", "--section", "SpeedOfLight", "--section",
       "Occupancy",
       "--section", "LaunchStats", "--section", "MemoryWorkloadAnalysis", "--section", "SchedulerStats", "--section",
       "WarpStateStats"]


class Stage:
    """What a stage works with."""

    def __init__(self, bundle, manifest, out, deadline, options):
        self.bundle, self.rows, self.deadline, self.options = bundle, out, deadline, options
        self.target = manifest["target"]
        self.cases = [case for case in manifest["cases"] if options.only in case["name"]]
        self.runner = cases.Cases(bundle, self.target, out, deadline, options.jobs, options.case_seconds,
                                  options.out / "wrong.tar")
        self.benchmarks, self.noted = bundle / "benchmark", set()

    def note_once(self, text):
        if text not in self.noted:
            self.noted.add(text)
            self.rows.add(kind="note", text=text)

    def smoke(self):
        return [case for case in self.cases if case["smoke"]]

    def measure(self, part, share=1.0, **more):
        """Whether a benchmark of ours failed. The part may take its share of the time that is left."""
        if not (self.benchmarks / "gpu.json").exists():
            self.rows.add(kind="note", text="the bundle has no benchmarks")
            return False
        sys.path.insert(0, str(self.benchmarks))
        import gpu  # what the bundle has

        deadline = processes.Deadline(share * self.deadline.remaining())
        return gpu.measure(self.benchmarks, part, self.rows.add, deadline, only=self.options.only,
                           patience=self.options.case_seconds / cases.SECONDS, **more)


def what_works(stage):
    """Stage 1."""
    stage.rows.add(kind="environment", **tools.environment(stage.bundle, stage.deadline))
    smoke = [stage.runner.run([case])
             for case in stage.smoke()]  # one after the other: a hang is named before the others begin
    found = [each for results in smoke for each in results]
    found += stage.runner.run([case for case in stage.cases if not case["smoke"]])
    every = [row["status"] for _, each in found for row in each]
    print(f"{every.count('passed')} of {len(every)} passed", flush=True)
    stage.measure("tiles")
    how_they_add(stage)
    look_into(stage, cases.wrong_cases(found)[:MAX_AGAIN])
    return not every or any(status != "passed" for status in every)


def how_they_add(stage):
    """Rows about the bits of wgmma and mma.sync: an answer, which fails nothing."""
    kernels = stage.bundle / "accumulation"
    if not kernels.exists() or stage.deadline.over() or stage.options.only not in "accumulation":
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.jsonl"
        done = processes.run([sys.executable, stage.bundle / "accumulation.py", kernels, "--rows", rows],
                             stage.deadline.clamp(ACCUMULATION_SLOWDOWN * stage.options.case_seconds))
        for row in jsonlines.read(rows)[0] if rows.exists() else []:
            stage.rows.add(**row)
    if not done.ok():
        stage.rows.add(kind="note", text=f"accumulation: {done.complaint()}")


def look_into(stage, wrong):
    """Cases that failed, once more without replay, and under memcheck; one of those of a class that hung is enough."""
    first_of_hung = {}
    for case in wrong:
        first_of_hung.setdefault(case["class"] if case["class"] in stage.runner.hung else case["name"], case)
    again = list(first_of_hung.values())
    stage.runner.run(again, "again", ["--no-replay"])
    for case in again:
        sanitize(stage, case, "memcheck")


def sanitize(stage, case, tool):
    """A row for each program of the case. Findings are for a reader: the sanitizer has been seen to report what is
    right."""
    sanitizer = tools.find("compute-sanitizer")
    if not sanitizer:
        return stage.note_once("compute-sanitizer is not installed")
    for program in [case, *case["variants"]]:
        row = {"kind": "sanitizer", "tool": tool, "name": program["name"]}
        if stage.deadline.over():
            stage.rows.add(**row, status="not run", detail="the time is over")
            continue
        command = [sanitizer, "--tool", tool, "--error-exitcode", FINDING,
                   *judge.command(stage.bundle, stage.target, case, program)]
        done = processes.run(command, stage.deadline.clamp(SANITIZER_SLOWDOWN * stage.options.case_seconds),
                             stage.bundle / "cases" / case["name"])
        if processes.ended.is_set():
            return None
        status = "clean" if done.ok() else "finding" if done.code == FINDING else done.status()
        stage.rows.add(**row, status=status, detail=None if done.ok() else done.complaint(),
                       seconds=round(done.seconds, 1))
    return None


def programs(stage):
    """Stage 2: what users run, and random graphs."""
    return any([stage.measure("workloads", share=0.4, rounds=1), stage.measure("graphs", rounds=1)])


def kernels(stage):
    """Stage 3: single kernels and training steps."""
    return any([stage.measure("kernels", share=0.6, rounds=1, slow=False),
                stage.measure("training", rounds=1, slow=False)])


def slow_peers(stage):
    """Stage 5: JAX and torch.compile, which compile for long; a run that ends before them lacks nothing of ours."""
    return any([stage.measure(part, rounds=1, slow=True) for part in ("training", "kernels")])


def worst_kernels(stage):
    """Names of the kernels that are slowest compared with a peer in what stage 3 has written here."""
    file = stage.rows.file.with_name("stage3.jsonl")
    measured = [row for row in jsonlines.read(file)[0] if row.get("kind") == "kernel"] if file.exists() else []
    ratios = {}
    for row in measured:
        peers = [seconds for name, seconds in row["seconds"].items() if name not in ("ours", "copy")]
        if "ours" in row["seconds"] and peers:
            ratios[row["case"]] = min(peers) / row["seconds"]["ours"]
    return (sorted(ratios, key=ratios.get) or WORST)[:3]


def closer_look(stage):
    """Stage 4."""
    profiler = tools.find("ncu")
    if (stage.benchmarks / "gpu.json").exists():
        sys.path.insert(0, str(stage.benchmarks))
        import gpu

        for name in worst_kernels(stage):
            command = gpu.command_of(stage.benchmarks, name)
            if not profiler or not command or stage.deadline.over():
                stage.note_once("ncu is not installed" if not profiler else f"not profiled: {name}")
                continue
            done = processes.run([profiler, *NCU, *command],
                                 stage.deadline.clamp(NCU_SLOWDOWN * stage.options.case_seconds),
                                 shown=jsonlines.MAX_TEXT * 4)
            for number, text in enumerate(split(done.said)):
                stage.rows.add(kind="ncu", case=name, status=done.status(), part=number, text=text)
    for tool in ("memcheck", "synccheck"):
        for case in stage.smoke():
            sanitize(stage, case, tool)
    return False


def split(text):
    """Into parts that fit a row."""
    return [text[start:start + jsonlines.MAX_TEXT] for start in range(0, len(text), jsonlines.MAX_TEXT)] or [""]


STAGES = {1: what_works, 2: programs, 3: kernels, 4: closer_look, 5: slow_peers}
