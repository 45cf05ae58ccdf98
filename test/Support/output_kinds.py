# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The kinds of output that the tools, the package and the examples write, with commands that write them. Each command
runs in a folder of its own and writes into its folder `out`. `old` and `new` write the same files with other content;
`piped` writes to standard output too, as much as the kind allows."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import numpy as np

import runner
import whole_files
from output_programs import PYTHON_TRACE, RESULTS, SAME, STREAMS, TRACED
from runner import ROOT

DIGITS = ROOT / "examples/digits"
SECONDS = 120


class Kind:
    """`place` is a folder with what all commands read."""

    name = ""
    streams = ()  # files that grow
    unlike = ()  # files whose bytes differ between runs
    optional = False  # a run is done also if its files cannot be written
    companion = False  # a second process does the same at the same time
    is_python = False  # Ctrl-C is an exception until its own handlers are there
    group = False  # it starts processes
    interrupt_code, terminate_code = 130, -signal.SIGTERM
    pipe_codes = (2,)  # after the pipe of its output was closed
    done_codes = (0,)

    def __init__(self, place):
        self.place = place

    def write(self, name, text):
        path = self.place / name
        path.write_text(text)
        return str(path)

    def ad_runner(self, *words):
        threads = [] if any(word.startswith("--emit") for word in words) else ["--threads=1"]
        return [runner.binary("ad-runner"), *words, *threads]

    def warm(self):
        return f"--cache={self.place / 'cache'}"

    def command(self, version):
        raise NotImplementedError

    def pipes(self):
        """Whether there is a command whose output can be read in part."""
        return True

    def normal(self, name, content):
        """What has to be equal in two runs."""
        if name.rpartition("/")[2] == whole_files.MANIFEST:
            return {key: value for key, value in json.loads(content).items() if key != "run"}
        return content

    def clear(self, out):
        """Before the command runs again."""

    def own_readers(self, out):
        """Complaints of our tools about a folder that an undisturbed run has written."""
        return ()

    def check(self, out, ended, whole):
        """Further complaints about the folder after a run that has ended early; `whole` are the files of one that has
        not."""
        return ()

    def is_other(self, name, content, before, ended):
        """Whether a file may differ from both versions; `before` is what it held before the run, if there was one."""
        return False

    def is_removed(self, name):
        """Whether a run removes the file before it writes it again."""
        return False

    def is_end(self, name, content, before, whole):
        """Whether a file is that of a run that is done."""
        return self.normal(name, content) == self.normal(name, whole)


def complaint(command, codes=(0,)):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode not in codes:
        return f"exit code {done.returncode} of {' '.join(map(str, command))}: {done.stderr}"
    return None


class Results(Kind):
    name = "results"

    def __init__(self, place):
        super().__init__(place)
        # The old run has a result that the new one lacks.
        self.programs = {"old": self.write("results-old.mlir", RESULTS.replace("LARGE", "earlier")),
                         "new": self.write("results.mlir", RESULTS.replace("LARGE", "z"))}

    def command(self, version):
        old = version == "old"
        words = ["--print"] if version == "piped" else []
        return self.ad_runner(self.programs["old" if old else "new"], f"--arg=x=normal:{1 + old}", "--arg=s=uniform:1",
                              self.warm(), "--out-dir=out", *words)

    def own_readers(self, out):
        yield complaint([runner.binary("ad-diff"), "tensors", out, out])


class Streams(Kind):
    name = "streams"
    streams = ("value.npy", "step.npy")

    def __init__(self, place):
        super().__init__(place)
        self.program = self.write("streams.mlir", STREAMS)
        self.same = self.write("same.mlir", SAME)

    def command(self, version):
        return self.ad_runner(self.program, f"--arg=x=normal:{1 + (version == 'old')}:0.1", self.warm(),
                              "--out-dir=out", "--print")

    def received(self, text):
        """How many values were received, by the output."""
        return max((int(number) for number in re.findall(r"^step: tensor<f32> = (\d+)\.$", text, re.M)), default=0)

    def check(self, out, ended, whole):
        files = whole_files.contents(out)
        if not all(name in files for name in self.streams) or self.is_earlier(files, whole):
            return
        counts = [whole_files.count_whole(files[name]) for name in self.streams]
        # What was received more than a second before is in the files; after Ctrl-C everything.
        moment = ended.sent if ended.sent is not None and ended.code != 130 else ended.seconds
        allowed = 0 if ended.code == 130 else 1 + ended.lateness
        expected = self.received(ended.output_before(moment - allowed))
        if ended.sent is not None and min(counts) < expected:
            yield f"{counts} values are in the files, and {expected} were received {allowed:.2f} s before the end"
        yield from self.read(out, files, min(counts))

    def is_earlier(self, files, whole):
        """Whether no value of this run was received yet."""
        return any(not whole_files.npy_data(whole[name]).startswith(whole_files.npy_data(files[name]))
                   for name in self.streams)

    def read(self, out, files, count):
        """Complaints of our readers, which read all whole values."""
        if count == 0:
            return
        target = out.parent / "read"
        done = subprocess.run(self.ad_runner(self.same, f"--arg=x={out / 'value.npy'}", f"--arg=s={out / 'step.npy'}",
                                             self.warm(), f"--out-dir={target}"),
                              capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            yield f"ad-runner does not read the streams: {done.stderr}"
            return
        for name in self.streams:
            data = whole_files.npy_data(files[name])
            each = len(data) // max(1, whole_files.count_whole(files[name]))
            read = np.load(target / name).tobytes()
            if not data.startswith(read) or len(data) - len(read) >= max(each, 1):
                yield f"ad-runner reads {len(read)} of {len(data)} bytes of {name}"
        partial = any(len(whole_files.npy_data(files[name])) % size for name, size in
                      zip(self.streams, (120 * 120 * 4, 4)))
        if partial != ("the last value is incomplete" in done.stderr):
            yield f"partial value {partial}, and ad-runner says: {done.stderr}"
        for name in self.streams:
            yield complaint([runner.binary("ad-diff"), "tensors", out / name, target / name])


class Trace(Kind):
    name = "trace"
    unlike = ("run.json",)

    def __init__(self, place):
        super().__init__(place)
        self.program = self.write("traced.mlir", TRACED)

    def command(self, version):
        name = "out/before" if version == "old" else "out/trace"
        return self.ad_runner(self.program, f"--arg=w=normal:1:{0.1 + 0.1 * (version == 'old')}", "--cache=off",
                              f"--trace={name}", "--trace-tensors=all", *["--print"] * (version == "piped"))

    def normal(self, name, content):
        file = name.rpartition("/")[2]
        if file == "run.json":
            return whole_files.without_times(json.loads(content))
        if file == whole_files.MANIFEST:
            manifest = json.loads(content)
            manifest["files"].pop("run.json", None)
            return {key: value for key, value in manifest.items() if key != "run"}
        return content

    def clear(self, out):
        shutil.rmtree(out / "trace", ignore_errors=True)

    def own_readers(self, out):
        yield complaint([runner.binary("ad-runner"), f"--replay={out / 'trace'}", "--cache=off"])
        yield complaint([runner.binary("ad-diff"), "runs", out / "trace", out / "trace"])

    def is_other(self, name, content, before, ended):
        """The trace of a run whose output failed says so, and has the values until then."""
        files = ("trace/records.tsv", "trace/run.json", f"trace/{whole_files.MANIFEST}", "trace/received/loss.npy")
        return ended.code == 2 and "Broken pipe" in ended.errors and name in files

    def check(self, out, ended, whole):
        # A trace has its name when it is complete.
        if not (out / "trace").exists():
            return
        status = json.loads((out / "trace/run.json").read_text())["status"]
        if status == ("failed" if self.is_other("trace/run.json", b"", None, ended) else "done"):
            yield status == "done" and complaint([runner.binary("ad-runner"), f"--replay={out / 'trace'}",
                                                  "--cache=off"])
        elif status != "done":
            yield f"the trace has status {status}"


class Reports(Kind):
    """What is written about a compilation."""

    name = "reports"

    def __init__(self, place):
        super().__init__(place)
        self.inputs = place / "digits"
        subprocess.run([sys.executable, DIGITS / "prepare.py", "mlp", self.inputs], check=True)

    def command(self, version):
        arguments = (self.inputs / "arguments").read_text().splitlines()
        report = "-" if version == "piped" else "out/report.json"
        return self.ad_runner(str(DIGITS / "mlp.mlir"), *arguments, "--cache=off", f"--report={report}",
                              f"--numerics={'strict' if version == 'old' else 'fast'}",
                              "--numerics-report=out/uses.json",
                              "--list-rewrites=out/rewrites.tsv", "--dump-optimized=out/optimized.mlir",
                              "--dump-plan=out/plan.mlir")

    def normal(self, name, content):
        return whole_files.without_times(json.loads(content)) if name == "report.json" else content

    def is_other(self, name, content, before, ended):
        """A run that fails reports its exit code."""
        return name == "report.json" and ended.code != 0 and json.loads(content)["exit_code"] == ended.code

    def own_readers(self, out):
        yield complaint([runner.binary("ad-opt"), out / "optimized.mlir", "-o", "/dev/null"])
        arguments = (self.inputs / "arguments").read_text().splitlines()
        yield complaint([runner.binary("ad-runner"), str(DIGITS / "mlp.mlir"), *arguments, "--cache=off",
                         f"--rewrites-only={out / 'rewrites.tsv'}"])


class Bench(Kind):
    """Lines that several processes append to one file."""

    name = "bench"
    companion = True

    def __init__(self, place):
        super().__init__(place)
        program = self.write("bench.mlir", RESULTS.replace("LARGE", "z"))
        self.program = str(place / "bench.adx")
        subprocess.run(self.ad_runner(program, "--cache=off", f"--emit={self.program}"), check=True)

    def command(self, version):
        option = "--bench" if version == "piped" else "--bench=out/lines.jsonl"
        return [runner.binary("adrt-run"), self.program, "--arg=x=normal:1", "--arg=s=uniform:1", option,
                "--threads=1", f"--repeat={3 + (version == 'old')}"]

    def normal(self, name, content):
        return [whole_files.without_times(json.loads(line)) for line in content.decode().splitlines()]

    def is_other(self, name, content, before, ended):
        """Old lines and new ones, each of them whole."""
        lines = self.normal(name, content[len(before or b""):])
        return content.startswith(before or b"") and content.endswith(b"\n") and all(
            line == lines[0] and line["repeat"] == 3 for line in lines)

    def is_end(self, name, content, before, whole):
        return self.is_other(name, content, before, None) and content != before


class Emit(Kind):
    name = "emit"
    group = True

    def __init__(self, place):
        super().__init__(place)
        self.program = self.write("emit.mlir", RESULTS.replace("LARGE", "z"))

    def command(self, version):
        file = "-" if version == "piped" else "out/program.adx"
        return self.ad_runner(self.program, f"--arg=x=normal:{1 + (version == 'old')}", self.warm(), f"--emit={file}")

    def own_readers(self, out):
        yield complaint([runner.binary("adrt-run"), out / "program.adx", "--arg=s=uniform:1", "--print"])


class Cache(Kind):
    """Two processes share a cache."""

    name = "cache"
    companion = True
    optional = True

    def __init__(self, place):
        super().__init__(place)
        self.programs = {"old": self.write("cached-old.mlir", RESULTS.replace("LARGE", "old")),
                         "new": self.write("cached.mlir", RESULTS.replace("LARGE", "z"))}

    def command(self, version):
        return self.ad_runner(self.programs["old" if version == "old" else "new"], "--arg=x=normal:1",
                              "--arg=s=uniform:1", "--cache=out/cache", "--print")

class Differences(Kind):
    """The files of ad-diff."""

    name = "differences"
    interrupt_code = -signal.SIGINT
    pipe_codes = (2, -signal.SIGPIPE)
    FILES = ("json", "csv", "svg", "html")

    def __init__(self, place):
        super().__init__(place)
        numbers = np.random.default_rng(1)
        for side in ("a", "b", "c"):
            (place / side).mkdir()
        for index in range(400):
            values = numbers.normal(size=(40, 40)).astype(np.float32)
            for side, scale in (("a", 0), ("b", 1e-6), ("c", 1e-3)):
                noise = numbers.normal(size=values.shape) * scale
                np.save(place / side / f"t{index}.npy", (values + noise).astype(np.float32))

    def command(self, version):
        files = {file: f"out/report.{file}" for file in self.FILES}
        if version == "piped":
            files["json"] = "-"
        other = self.place / ("c" if version == "old" else "b")
        return [runner.binary("ad-diff"), "tensors", str(self.place / "a"), str(other),
                *(f"--{option}={file}" for option, file in files.items())]


class Text(Kind):
    """The output of ad-opt."""

    name = "text"
    interrupt_code = -signal.SIGINT
    pipe_codes = (2, -signal.SIGPIPE)

    def command(self, version):
        passes = ["--ad-set-numerics", "--ad-differentiate"] if version == "old" else ["--ad-to-cpu"]
        file = "-" if version == "piped" else "out/text.mlir"
        return [runner.binary("ad-opt"), str(DIGITS / "transformer.mlir"), *passes, "-o", file]

    def own_readers(self, out):
        yield complaint([runner.binary("ad-opt"), out / "text.mlir", "-o", "/dev/null"])


class Training(Kind):
    """What the training of the digits leaves: inputs, parameters, the losses and their picture."""

    name = "training"
    is_python = True
    group = True
    streams = ("loss.npy",)
    interrupt_code, terminate_code = 130, 128 + signal.SIGTERM

    def command(self, version):
        return [sys.executable, "-u", str(DIGITS / "train.py"), "mlp", f"--runner={runner.binary('ad-runner')}",
                "--out=out", f"--seed={int(version == 'old')}", "--threads=1"]

    def normal(self, name, content):
        if name.startswith("cache/"):
            return b""
        if name == "report.json":
            return whole_files.without_times(json.loads(content))
        return super().normal(name, content)

    def is_removed(self, name):
        return name.startswith("cache/")

    def is_other(self, name, content, before, ended):
        return name == "report.json" and ended.code != 0 and json.loads(content)["exit_code"] != 0

    def own_readers(self, out):
        yield complaint([runner.binary("ad-diff"), "tensors", out, out])


class PythonTrace(Trace):
    """A trace by the Python package."""

    name = "python"
    is_python = True
    # Python raises KeyboardInterrupt, and has no handler of SIGTERM.
    interrupt_code = -signal.SIGINT

    def __init__(self, place):
        Kind.__init__(self, place)
        self.script = self.write("trace.py", PYTHON_TRACE)
        self.programs = [self.write("traced.mlir", TRACED),
                         self.write("traced-old.mlir", TRACED.replace("constant 6", "constant 7"))]

    def command(self, version):
        script = self.script
        if version == "old":
            script = self.write("trace-old.py", PYTHON_TRACE.replace("out/trace", "out/before"))
        return [sys.executable, script, self.programs[version == "old"]]

    def pipes(self):
        return False


KINDS = [Results, Streams, Trace, Reports, Bench, Emit, Cache, Differences, Text, Training, PythonTrace]


def package():
    """The folder of the Python package of the build, if it was built."""
    folder = pathlib.Path(runner.binary("ad-runner")).parent.parent / "python"
    return folder if (folder / "adjoint").is_dir() else None
