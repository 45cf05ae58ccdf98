#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Plants single faults in the libraries, one at a time, and runs the tests that reach each until one fails.

Faults are drawn by --seed so that all folders and kinds are met. One that no test finds is a survivor: it is listed
with its line, and it counts as failed. Closes with `mutations: N run, N failed`."""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import sys
import time

import coverage
import faults
import suites

GROUPS = (4, 12, 32)  # tests of lit that run in one process: few at first, since most faults are found soon
SLACK = 8  # how many times longer than without a fault a test may take
MORE_SECONDS = 20  # that it may take beyond these


@dataclasses.dataclass
class Verdict:
    fault: faults.Fault
    found_by: str = ""
    why: str = ""
    reached_by: int = 0
    ran: int = 0
    seconds: float = 0.0

    def line(self):
        if self.found_by:
            return f"found by {self.found_by} ({self.why}): {self.fault.id}: {self.fault.what}"
        tests = f"{self.reached_by} tests reach it"
        if self.ran < self.reached_by:
            tests = f"{self.ran} of the {tests.replace('reach', 'that reach')} ran"
        return (f"SURVIVED {self.fault.position}: {self.fault.what} ({tests}; {self.fault.id})\n"
                f"    {self.fault.source()}")

    def entry(self):
        return {**dataclasses.asdict(self), "fault": self.fault.id, "what": self.fault.what,
                "source": self.fault.source()}


def nearness(fault, test):
    """The number of common folders of the fault's file and the test: the tree of tests mirrors that of the libraries."""
    ours, theirs = fault.folder.split("/")[1:], os.path.dirname(test.name).split("/")
    return len(os.path.commonprefix([ours, theirs]))


def in_order(fault, seconds):
    """The tests, the fastest first. A test that is close to the fault may be slower."""
    return sorted(seconds, key=lambda test: (seconds[test] / (1 + 4 * nearness(fault, test)), test.name))


def groups_of(tests):
    """Consecutive tests that lit can run together."""
    sizes, group = list(GROUPS), []
    for test in tests:
        if group and (test.suite != "lit" or len(group) >= sizes[0]):
            yield group
            group = []
            if len(sizes) > 1:
                sizes.pop(0)
        group.append(test)
        if test.suite != "lit":
            yield group
            group = []
    if group:
        yield group


def run_group(runner, group, seconds, fault):
    extra, limit = {"ADJOINT_MUTATION": fault.id}, SLACK * max(seconds[test] for test in group) + MORE_SECONDS
    if group[0].suite != "lit":
        return {group[0]: runner.run(group[0], limit, extra)}
    outcomes = runner.run_lit(group, limit, extra, ["-j1", "--max-failures=1"])
    if len(group) == 1 or any(outcome.why != suites.NO_END for outcome in outcomes.values()):
        return outcomes
    # One of them hangs: which one?
    outcomes = {}
    for test in group:
        outcomes.update(runner.run_lit([test], limit, extra, ["-j1"]))
        if not all(outcome.passed for outcome in outcomes.values()):
            break
    return outcomes


def judge(runner, fault, seconds, minutes):
    """Runs tests {test: seconds without a fault} until one fails."""
    verdict, begin = Verdict(fault, reached_by=len(seconds)), time.monotonic()
    for group in groups_of(in_order(fault, seconds)):
        if time.monotonic() - begin > 60 * minutes:
            break
        outcomes = run_group(runner, group, seconds, fault)
        verdict.ran += len(outcomes)
        failed = next((test for test, outcome in outcomes.items() if not outcome.passed), None)
        if failed:
            verdict.found_by, verdict.why = failed.name, outcomes[failed].why
            break
    verdict.seconds = round(time.monotonic() - begin, 1)
    return verdict


def reaching(table, number):
    return {test: seconds for test, (seconds, bits) in table.items() if bits >> number & 1}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="how many faults to draw")
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same faults from the same sources")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="this fault, as --list names it")
    parser.add_argument("--files", default="", metavar="REGEX", help="only faults in files that match")
    parser.add_argument("--kinds", default="", metavar="REGEX", help="only faults of kinds that match")
    parser.add_argument("--list", action="store_true", help="list the faults instead of running tests")
    parser.add_argument("--suites", default=",".join(suites.SUITES), help="of these, separated by commas: %(default)s")
    parser.add_argument("--tests", default="", metavar="REGEX", help="only tests whose names match")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4), help="faults at a time")
    parser.add_argument("--minutes", type=float, default=30, help="how long tests of one fault go on, at most")
    parser.add_argument("--json", metavar="FILE", help="also write the verdicts there")
    parser.add_argument("--build", default=str(faults.ROOT / "build/mutations"), help="of the preset `mutations`")
    given = parser.parse_args()
    given.suites = given.suites.split(",")
    unknown = set(given.suites) - set(suites.SUITES)
    if unknown:
        parser.error(f"expected suites among {', '.join(suites.SUITES)}, got {', '.join(sorted(unknown))}")
    return parser, given


def chosen_faults(parser, given, every):
    if given.only:
        by_id = {fault.id: fault for fault in every}
        unknown = [name for name in given.only if name not in by_id]
        if unknown:
            parser.error(f"expected faults that --list names, got {', '.join(unknown)}")
        return [by_id[name] for name in given.only]
    some = [fault for fault in every if re.search(given.files, fault.file) and re.search(given.kinds, fault.kind)]
    if not some:
        parser.error(f"no fault is in files that match '{given.files}' and is of a kind that matches '{given.kinds}'")
    return some if given.list else faults.sample(some, given.count, given.seed)


def verdicts(given, table, chosen):
    """Tests the faults in parallel, and yields the verdicts in order of completion."""
    runner = table.runner
    passing, others = table.load(given.all_tests)
    for test, why in others.items():
        print(f"left out, it fails without a fault: {test.name} ({why})", flush=True)

    def one(fault):
        return judge(runner, fault, reaching(passing, table.numbers[fault.id]), given.minutes)

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, fault) for fault in chosen]):
            yield done.result()


def main():
    parser, given = options()
    build = pathlib.Path(given.build).resolve()
    table = coverage.Coverage(build, given.jobs)
    chosen = chosen_faults(parser, given, table.faults())
    if given.list:
        print("\n".join(f"{fault.id}: {fault.what}" for fault in chosen))
        return 0
    given.all_tests = suites.all_tests(build, given.suites, given.tests)
    table.record(given.all_tests, lambda text: print(f"== {text}", flush=True))
    judged = []
    for verdict in verdicts(given, table, chosen):
        judged.append(verdict)
        print(verdict.line(), flush=True)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps([verdict.entry() for verdict in judged], indent=1) + "\n")
    print(f"mutations: {len(judged)} run, {sum(not verdict.found_by for verdict in judged)} failed")
    return int(any(not verdict.found_by for verdict in judged))


if __name__ == "__main__":
    sys.exit(main())
