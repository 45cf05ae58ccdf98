# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The tests of all suites as things that run one by one, or several of lit at once, with limits of time and memory."""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM = pathlib.Path("/usr/lib/llvm-22")
SUITES = ("lit", "units", "python", "fuzz")
# Cases of each campaign; the smallest numbers with which all kinds of programs occur.
CAMPAIGNS = {"programs": 32, "gradients": 32, "passes": 16, "fused": 16, "gpu-sim": 16, "adx": 8}
NO_END = "no end"
MEMORY = 8 << 20  # KiB of addresses for each process


@dataclasses.dataclass(frozen=True)
class Test:
    """A test; one without a command is a file that lit runs."""
    suite: str
    name: str
    command: tuple = ()
    digest: str = ""


def digest_of(*paths):
    content = hashlib.sha256()
    for path in paths:
        content.update(pathlib.Path(path).read_bytes())
    return content.hexdigest()[:16]


def lit_tests(build):
    shown = subprocess.run([sys.executable, str(LLVM / "bin/lit"), "--show-tests", str(build / "test")], check=True,
                           capture_output=True, text=True).stdout
    names = re.findall(r"^  adjoint :: (\S+)$", shown, re.M)
    return [Test("lit", name, digest=digest_of(ROOT / "test" / name)) for name in names]


def unit_tests(build):
    """Test programs of C++, but for those that a lit test runs."""
    programs = sorted(path for path in (build / "bin").glob("ad*") if re.search("-(unit|scan|check|test)$", path.name))
    texts = "\n".join(path.read_text() for ending in ("test", "mlir") for path in (ROOT / "test").rglob(f"*.{ending}"))
    return [Test("units", path.name, (str(path),)) for path in programs if not re.search(rf"\b{path.name}\b", texts)]


def python_tests():
    """All except the test of this tool, which compiles its own programs."""
    paths = [path for path in sorted((ROOT / "test").rglob("*_test.py")) if path.parent.name != "Mutations"]
    return [Test("python", str(path.relative_to(ROOT / "test")), (sys.executable, str(path)), digest_of(path))
            for path in paths]


def campaigns():
    paths = {name: ROOT / f"test/Fuzz/{name}.py" for name in CAMPAIGNS}
    options = ("--seed=1", "--jobs=1", "--keep=0")
    return [Test("fuzz", f"fuzz-{name}", (sys.executable, str(paths[name]), f"--count={count}", *options),
                 digest_of(paths[name])) for name, count in CAMPAIGNS.items()]


def all_tests(build, suites=SUITES, pattern=""):
    makers = {"lit": lambda: lit_tests(build), "units": lambda: unit_tests(build), "python": python_tests,
              "fuzz": campaigns}
    return [test for suite in suites for test in makers[suite]() if re.search(pattern, test.name)]


@dataclasses.dataclass
class Outcome:
    passed: bool
    seconds: float = 0.0
    why: str = ""


class Runner:
    """Runs tests of a build, each with caches and folders of its own."""

    def __init__(self, build):
        self.build = build

    def environment(self, folder, extra):
        path = os.pathsep.join([str(self.build / "bin"), str(LLVM / "bin"), os.environ["PATH"]])
        return {**os.environ, "PATH": path, "ADJOINT_BIN": str(self.build / "bin"), "TMPDIR": str(folder),
                "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1", **extra}

    def limited(self, command, seconds, folder, extra, tests=1):
        """Runs a command for as many seconds of CPU time in each of its processes, and longer by the clock, since
        a deadlock uses no CPU time. (exit code, output); the code is None when the clock stopped it."""
        limits = f"ulimit -c 0 -v {MEMORY} -t {int(seconds)} && exec \"$@\""
        with open(folder / "output", "w+b") as output:
            process = subprocess.Popen(["bash", "-c", limits, "bash", *map(str, command)], stdout=output, stderr=output,
                                       stdin=subprocess.DEVNULL, cwd=ROOT, start_new_session=True,
                                       env=self.environment(folder, extra))
            try:
                code = process.wait(timeout=tests * (3 * seconds + 60) + 60)
            except subprocess.TimeoutExpired:
                code = None
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            output.seek(0)
            return code, output.read().decode(errors="replace")

    def run(self, test, seconds, extra):
        """A test that is a program of its own. It closes with `N run, 0 failed` or as GoogleTest does, or is only an
        exit code."""
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            code, output = self.limited(test.command, seconds, pathlib.Path(name), extra)
        taken = time.monotonic() - begin
        if code != 0:
            return Outcome(False, taken, NO_END if code is None else f"exit code {code}")
        closing = (output.strip().splitlines() or [""])[-1]
        if "[==========] Running" in output and not re.search(r"^\[  PASSED  \] [1-9]", output, re.M):
            return Outcome(False, taken, "an early end")
        return Outcome(not re.search(r"[1-9]\d* failed", closing), taken, closing)

    def run_lit(self, tests, seconds, extra, options=()):
        """Tests of lit in one process; {test: outcome} of those that ran."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            paths = folder / "tests"
            paths.write_text("\n".join(str(self.build / "test" / test.name) for test in tests))
            command = [sys.executable, LLVM / "bin/lit", "-q", "--no-progress-bar",
                       f"--output={folder / 'results.json'}", f"-Dexec_root={folder / 'exec'}", *options, f"@{paths}"]
            code, _ = self.limited(command, seconds, folder, extra, len(tests))
            if code is None or not (folder / "results.json").exists():
                return {test: Outcome(False, why=NO_END) for test in tests}
            results = json.loads((folder / "results.json").read_text())["tests"]
        by_name = {result["name"].split(" :: ", 1)[1]: result for result in results}
        outcomes = {}
        for test in tests:
            result = by_name.get(test.name, {"code": "SKIPPED"})
            if result["code"] not in ("SKIPPED", "EXCLUDED", "UNSUPPORTED"):
                outcomes[test] = Outcome(result["code"] in ("PASS", "XFAIL", "FLAKYPASS"), result.get("elapsed") or 0.0,
                                         result["code"])
        return outcomes
