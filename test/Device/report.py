#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Turns what run.py has written into a page.

  report.py DIR [--into FOLDER | --out FILE.md]

Reads stage1.jsonl to stage5.jsonl in DIR, or in folders below it, as far as they are there and whole. The page goes to
standard output, to a file, or into a folder under a name made of the GPU and the date. The exit code is 2 when DIR has
no results.
"""

import argparse
import collections
import itertools
import json
import os
import pathlib
import re
import sys
import textwrap

import jsonlines
from expectations import judge_cases, judge_speeds, ratio
from ratios import verdicts

HERE = pathlib.Path(__file__).resolve().parent
PEERS = ["cublas", "torch-eager", "torch-compile", "torch-compile-graphs", "torch-autotune", "jax", "jax-jit",
         "jax-fori-loop", "jax-scan", "numpy", "copy",
         "ours-one-by-one"]
NEEDED = {"case": {"name", "class", "status"}, "again": {"name", "status"}, "sanitizer": {"name", "tool", "status"},
          "begin": {"date"},
          "environment": {"platform", "python"}, "ncu": {"case"}, "note": {"text"},
          "accumulation": {"element", "major", "equal", "values", "different", "wrong", "modelled", "first"},
          "kernels": {"case", "ratio", "kernels"},
          **dict.fromkeys(("kernel", "tile", "training", "graph", "workload"), {"case", "seconds", "failed"})}  # keys of rows, by kind
STATUS = {"done": "done", "late": "ended by its deadline", "interrupted": "interrupted", None: "killed"}


class Stage:
    """The rows of the last time that a stage ran."""

    def __init__(self, file):
        self.name = file.stem
        read, damaged = jsonlines.read(file)
        found = [row for row in read if isinstance(row.get("kind"), str)
                 and NEEDED.get(row["kind"], set()) <= row.keys()]
        self.damaged = damaged + len(read) - len(found)
        begins = [number for number, row in enumerate(found) if row.get("kind") == "begin"]
        self.rows = found[begins[-1]:] if begins else found

    def of(self, kind):
        return [row for row in self.rows if row.get("kind") == kind]

    def first(self, kind):
        return next(iter(self.of(kind)), {})


def table(head, lines):
    """A table; `|` and the ends of lines in its cells would break it."""
    def line(cells):
        return "| " + " | ".join(re.sub(r"\s+", " ", str(cell)).replace("|", "\\|")[:300] for cell in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, lines), ""]


def wrap(line):
    """The lines of a paragraph or an entry of a list."""
    return textwrap.wrap(line, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def machine(stages):
    found = next((row for stage in stages for row in stage.of("environment")), {})
    lines = [line for line in found.get("adrt", "").splitlines() if line.startswith(("GPU", "CPU"))]
    if found.get("nvidia_smi", "not installed") != "not installed":
        lines.append(f"nvidia-smi: {found['nvidia_smi']}")
    packages = ", ".join(f"{name} {version}" for name, version in found.get("packages", {}).items())
    lines += [f"{found['platform']}, Python {found['python']}, {packages or 'no packages'}"] if found else ["No stage has described the machine."]
    return [*itertools.chain(*(wrap(f"- {line}") for line in lines)), ""]


def what_ran(stages):
    lines = []
    for stage in stages:
        begin, end = stage.first("begin"), stage.first("end")
        lines.append((stage.name, begin.get("date", "?"), begin.get("seconds", "?"), end.get("seconds", "?"),
                      STATUS.get(end.get("status"), "?"),
                      len(stage.rows), stage.damaged or ""))
    return ["## What ran", "", *table(["stage", "date", "limit in s", "took", "ended", "rows", "damaged rows"], lines)]


def cases(found):
    counts = collections.Counter(row["status"] for row in found)
    text = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "none ran"
    lines = [(row["name"], row["class"], row["status"], row.get("detail") or "") for row in found
             if row["status"] != "passed"]
    return ["## Cases against the reference interpreter", "", f"{len(found)} programs: {text}.", "",
            *(table(["program", "class", "status", "what was wrong"], lines) if lines else [])]


def again(stages):
    """What the repetition of failures, and compute-sanitizer, say."""
    repeated = [(row["name"], row.get("how", ""), row["status"], row.get("detail") or "") for stage in stages
                for row in stage.of("again")]
    sanitized = [(row["name"], row["tool"], row["status"], row.get("detail") or "") for stage in stages
                 for row in stage.of("sanitizer")
                 if row["status"] != "clean"]
    clean = sum(row["status"] == "clean" for stage in stages for row in stage.of("sanitizer"))
    lines = ["## Failures once more", "", *table(["program", "how", "status", "what was wrong"],
                                                 repeated)] if repeated else []
    if sanitized or clean:
        lines += ["## compute-sanitizer", "",
                  f"{clean} runs without findings. Findings are no failures: the tool reports some accesses of "
                  "`wgmma` that are right.", "", *(table(["program", "tool", "status", "finding"], sanitized)
                                                   if sanitized else [])]
    return lines


def accumulation(found):
    """Whether `wgmma` and `mma.sync` gave the same bits."""
    if not found:
        return []
    words = {True: "equal", False: "different", None: "unknown: no sums"}
    lines = [(row["element"], row["major"], words[row["equal"]], row["values"], row["different"], row["wrong"],
              f"{100 * row['modelled'] / row['values']:.1f} %", json.dumps(row["first"]) if row["first"] else "")
             for row in found]
    return ["## Bits of wgmma and mma.sync", "", *wrap("One step of 16 products from zero, and a chain of steps, by both "
            "instructions, for every N; `modelled`: results of `mma.sync` as the published model of 25 bits has them."),
            "", *table(["type", "B along", "bits", "results", "different", "wrong", "modelled", "first difference"],
                       lines)]


def rate(row):
    seconds = row["seconds"].get("ours")
    if not seconds or not (row.get("flops") or row.get("bytes")):
        return ""
    if row.get("flops"):
        return f"{row['flops'] / seconds / 1e12:.0f} TFLOP/s"
    return f"{row['bytes'] / seconds / 1e9:.0f} GB/s"


def missing_peers(found, measured):
    """A line with the reasons of peers that have no time at all."""
    reasons = {name: reason for row in found for name, reason in row["failed"].items() if name not in measured
               and not name.startswith("ours")}
    return ["Not measured: " + "; ".join(f"{name}: {reason}" for name, reason in reasons.items()) + ".",
            ""] if reasons else []


def measurements(title, found):
    """A table with the speed of ours as a share of each peer's."""
    if not found:
        return []
    peers = [name for name in PEERS if any(name in row["seconds"] for row in found)]
    lines = []
    for row in found:
        ours = row["seconds"].get("ours")
        lines.append((row["case"], f"{1e6 * ours:.1f} us" if ours else row["failed"].get("ours", "not measured"),
                      rate(row),
                      row.get("launches", {}).get("ours", ""), row.get("clock", {}).get("ours", ""),
                      *(f"{share:.2f}" if (share := ratio(row, name)) else row["failed"].get(name, "")
                        for name in peers)))
    return [f"## {title}", "", *missing_peers(found, peers),
            "Columns of peers: how fast ours is compared with them; more than 1 means that ours is faster.", "",
            *table(["case", "ours", "rate", "launches", "clock", *peers], lines)]


def random_graphs(found):
    """Quantiles and targets, and all graphs from the slowest on."""
    if not found:
        return []
    ratios = {row["case"]: share for row in found for peer in ("torch-eager", "numpy") if (share := ratio(row, peer))}
    seeds = ", ".join(sorted({str(row["seed"]) for row in found if "seed" in row}))
    lines = ["## Random graphs", "", *wrap(f"{len(found)} graphs of seed {seeds}, {len(ratios)} with a peer. A graph is "
             "timed after its results were compared with f64; `error` is its distance, relative to the norm."), ""]
    if ratios:
        lines += table(["of the ratios", "measured", "target", "verdict"], [
            (what, f"{value:.2f}", f"at least {target}", "met" if met else "missed")
            for what, value, target, met in verdicts(ratios.values())])
    ordered = sorted(found, key=lambda row: ratios.get(row["case"], 0))
    lines += table(["graph", "ours", "ratio", "rate", "launches", "error", "the peer's"], [
        (row["case"], *cell_of_ours(row), f"{ratios[row['case']]:.2f}" if row["case"] in ratios else
         "; ".join(f"{name}: {reason}" for name, reason in row["failed"].items()), rate(row),
         row.get("launches", {}).get("ours", ""), *(f"{row[key]:.0e}" if key in row else "" for key in
                                                     ("error", "peer_error"))) for row in ordered])
    return lines


def kernels_of(rows):
    """The times of kernels between events around each launch, of programs that are slower than their peer."""
    if not rows:
        return []
    return ["## Kernels of slow programs", "", *table(["program", "ratio", "kernels, time of a run"], [
        (row["case"], f"{row['ratio']:.2f}", ", ".join(f"{name} {1e6 * seconds:.1f} us" for name, seconds, _ in
                                                       row["kernels"])) for row in rows])]


def cell_of_ours(row):
    ours = row["seconds"].get("ours")
    return [f"{1e6 * ours:.1f} us" if ours else row["failed"].get("ours", "not measured")]


def profiles(stages):
    lines = []
    for stage in stages:
        for row in stage.of("ncu"):
            if row.get("text"):
                lines += [*([f"### {row['case']}", ""] if row.get("part") == 0 else []), "```",
                          row["text"].replace("```", "'''"), "```", ""]
    return ["## Kernels under ncu", "", *lines] if lines else []


def notes(stages):
    lines = [f"- {stage.name}: {row['text']}" for stage in stages for row in stage.of("note")]
    return ["## Notes", "", *lines, ""] if lines else []


def with_slow_peers(rows, others):
    """Measurements of ours, each with those of the peers that another stage measured."""
    merged = {row["case"]: row for row in rows}
    for other in others:
        row = merged.get(other["case"], {**other, "seconds": {}, "failed": {}})
        merged[other["case"]] = {**row, "seconds": {**row["seconds"], **other["seconds"]},
                                 "failed": {**row["failed"], **other["failed"]}}
    return list(merged.values())


def page(stages):
    begin = next((stage.first("begin") for stage in stages if stage.of("begin")), {})
    found = {kind: [row for stage in stages for row in stage.of(kind)]
             for kind in ("case", "kernel", "tile", "training", "kernel-peers", "training-peers", "graph", "workload",
                          "kernels", "accumulation")}
    for kind in ("kernel", "training"):
        found[kind] = with_slow_peers(found[kind], found[kind + "-peers"])
    expected = json.loads((HERE / "expectations.json").read_text())
    judged = [*judge_speeds(expected["speeds"], [*found["kernel"], *found["tile"]]),
              *judge_cases(expected["cases"], found["case"])]
    lines = [f"# {gpu_name(stages)}, {begin.get('date', 'no date')}", "",
             f"Written by `scripts/gpu.sh report`. Target {begin.get('target', '?')}, code for {begin.get('chip', '?')}.", "", *machine(stages), *what_ran(stages),
             "## Expectations", "", *table(["what", "expected", "measured", "verdict", "why"], judged),
             *cases(found["case"]), *accumulation(found["accumulation"]), *again(stages),
             *random_graphs(found["graph"]), *measurements("Workloads of users", found["workload"]),
             *kernels_of(found["kernels"]),
             *measurements("Kernels", found["kernel"]), *measurements("A product in several tiles", found["tile"]),
             *measurements("Training", found["training"]), *profiles(stages), *notes(stages)]
    return "\n".join(lines).rstrip() + "\n"


def gpu_name(stages):
    said = next((row.get("adrt", "") for stage in stages for row in stage.of("environment")), "")
    found = re.search(r"^GPU \d+: ([^,]+)", said, re.MULTILINE)
    target = next((stage.first("begin").get("target") for stage in stages if stage.of("begin")), "?")
    return "the emulated GPU" if target == "gpu-sim" else found[1] if found else "an unknown GPU"


def file_name(stages):
    date = next((stage.first("begin")["date"] for stage in stages if stage.of("begin")), "undated")
    return re.sub(r"[^a-z0-9-]+", "-", f"{date[:10]}-{gpu_name(stages)}".lower()).strip("-") + ".md"


def unused(file):
    """The file, or one of that name with a number: a second run on one day is a page of its own."""
    names = itertools.chain([file], (file.with_name(f"{file.stem}-{number}{file.suffix}")
                                     for number in itertools.count(2)))
    return next(name for name in names if not name.exists())


def write(file, text):
    """Whole or not at all."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_text(text)
        os.replace(unfinished, file)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--into", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE.md")
    options = parser.parse_args()
    stages = [Stage(file) for file in sorted(options.folder.rglob("stage[1-5].jsonl"), key=lambda file: file.name)]
    repeated = [name for name, count in collections.Counter(stage.name for stage in stages).items() if count > 1]
    if repeated:
        print(f"report.py: folders below '{options.folder}' have {', '.join(repeated)} more than once; name the folder of one run", file=sys.stderr)
        return 2
    if not any(stage.rows for stage in stages):
        print(f"report.py: '{options.folder}' has no results; run.py writes stage1.jsonl and others", file=sys.stderr)
        return 2
    text = page(stages)
    if options.into:
        options.out = unused(options.into / file_name(stages))
    if not options.out:
        sys.stdout.write(text)
        return 0
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        write(options.out, text)
    except OSError as error:
        print(f"report.py: cannot write '{options.out}': {error.strerror}", file=sys.stderr)
        return 2
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
