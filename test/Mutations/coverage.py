# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which faults each test reaches. The table is stored in the build folder, and is valid until the programs change.
Changed tests are run again."""

import hashlib
import json
import pathlib
import shutil
import tempfile

import faults
import suites

LIMIT = 1800  # CPU seconds of a test that records the faults that it reaches
BATCH = 48  # lit tests between two saves


def fingerprint(build):
    """Of the programs, by what the file system says about them."""
    content = hashlib.sha256()
    for path in faults.programs(build):
        status = path.stat()
        content.update(f"{path.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return content.hexdigest()[:16]


class Coverage:
    def __init__(self, build, jobs):
        self.runner, self.jobs = suites.Runner(build), jobs
        self.folder = build / "mutations" / fingerprint(build)
        for other in self.folder.parent.glob("*") if self.folder.parent.exists() else ():
            if other.is_dir() and other != self.folder:
                shutil.rmtree(other)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.numbers = {fault.id: number for number, fault in enumerate(self.faults())}

    def faults(self):
        path = self.folder / "faults.json"
        if not path.exists():
            found = faults.faults_of(faults.programs(self.runner.build))
            path.write_text(json.dumps([[fault.id, fault.what] for fault in found]))
        return [faults.Fault(*pair) for pair in json.loads(path.read_text())]

    def path(self, test):
        name = hashlib.sha256(f"{test.suite} {test.name} {test.digest} {test.command}".encode()).hexdigest()[:16]
        return self.folder / f"{name}.json"

    def save(self, test, outcome, reached):
        bits = 0
        for name in set(reached.read_text().splitlines()) if reached.exists() else ():
            if name in self.numbers:
                bits |= 1 << self.numbers[name]
        entry = {"name": test.name, "passed": outcome.passed, "seconds": outcome.seconds, "why": outcome.why,
                 "reached": f"{bits:x}"}
        self.path(test).write_text(json.dumps(entry))

    def record(self, tests, say):
        """Runs the tests that are not in the table."""
        missing = [test for test in tests if not self.path(test).exists()]
        if not missing:
            return
        say(f"recording what {len(missing)} tests reach, once for this build")
        of_lit = [test for test in missing if test.suite == "lit"]
        for start in range(0, len(of_lit), BATCH):
            self.record_lit(of_lit[start:start + BATCH])
            say(f"{min(start + BATCH, len(of_lit))} of {len(of_lit)} tests of lit")
        for test in missing:
            if test.suite != "lit":
                self.record_one(test)
                say(test.name)

    def record_lit(self, tests):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            outcomes = self.runner.run_lit(tests, LIMIT, {}, [f"-j{self.jobs}", f"-Dreached={folder}"])
            for test in tests:
                outcome = outcomes.get(test, suites.Outcome(False, why="not supported here"))
                self.save(test, outcome, folder / test.name.replace("/", "+"))

    def record_one(self, test):
        with tempfile.TemporaryDirectory() as name:
            reached = pathlib.Path(name) / "reached"
            outcome = self.runner.run(test, LIMIT, {"ADJOINT_MUTATIONS_REACHED": str(reached)})
            self.save(test, outcome, reached)

    def load(self, tests):
        """{test: (seconds, bits)} of those that pass without a fault, and what is wrong with the others."""
        passing, others = {}, {}
        for test in tests:
            entry = json.loads(self.path(test).read_text())
            if entry["passed"]:
                passing[test] = (entry["seconds"], int(entry["reached"], 16))
            else:
                others[test] = entry["why"]
        return passing, others
