# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs the cases of a bundle, several at a time. The programs of a case run one after the other: first the one whose
bits are known, then those that are compared with it. Where one hangs, the others of its class are not begun."""

import concurrent.futures
import itertools
import os
import pathlib
import tarfile
import tempfile
import threading

import judge
import processes

JOBS = min(12, os.cpu_count() or 1)
SECONDS = 15  # that a program may take
MAX_KEPT = 15 << 20  # bytes of results that were wrong
WRONG = ("failed", "crashed", "hung")


class Cases:
    """`rows` gets a row for each program as soon as it has ended, `kept` names an archive for the results of those that
    are wrong."""

    def __init__(self, bundle, target, rows, deadline, jobs=JOBS, seconds=SECONDS, kept=None):
        self.bundle, self.target, self.rows = bundle, target, rows
        self.deadline, self.jobs, self.seconds = deadline, jobs, seconds
        self.kept, self.lock, self.hung = kept, threading.Lock(), set()

    def run(self, cases, kind="case", more=()):
        """The rows, by case. Cases of different classes are begun one after the other, so that a class that hangs holds
        few workers."""
        cases = list(round_robin(cases))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            try:
                return list(zip(cases, pool.map(lambda case: self.run_case(case, kind, more), cases)))
            except BaseException:
                processes.end_all()
                pool.shutdown(cancel_futures=True)
                raise

    def run_case(self, case, kind, more):
        with tempfile.TemporaryDirectory() as name:
            expected = pathlib.Path(name) / "program"
            rows = [self.run_program(case, case, expected, kind, more, lambda out: judge.wrong_bits(case, out))]
            verified = rows[0] is not None and rows[0]["status"] == "passed"
            for number, variant in enumerate(case["variants"]):
                def wrong(out, bound=variant["bound"]):
                    return judge.outside(bound, expected,
                                         out) if verified else "its reproducible run gives no results to compare with"
                rows.append(self.run_program(case, variant, pathlib.Path(name) / str(number), kind, more, wrong))
        return [row for row in rows if row]

    def run_program(self, case, program, out, kind, more, wrong):
        """The row, which has been written; None when the whole run was ended meanwhile."""
        if processes.ended.is_set():
            return None
        row = {"kind": kind, "name": program["name"], "class": program["class"],
               **({"how": " ".join(more)} if more else {})}
        if program["class"] in self.hung and kind == "case":
            row.update(status="skipped", detail="another case of its class hung")
        elif self.deadline.over():
            row.update(status="skipped", detail="the time is over")
        else:
            seconds = self.deadline.clamp(self.seconds)
            try:
                done = judge.run(self.bundle, self.target, case, program, out, seconds, more)
            except OSError as error:  # the bundle lacks something
                done = processes.Ended(1, f"cannot run: {error}", 0)
            if processes.ended.is_set():
                return None
            row.update(self.judged(done, out, wrong), seconds=round(done.seconds, 3))
            if row["status"] == "hung" and seconds < self.seconds:
                row.update(status="skipped", detail="the deadline of the stage ended it")
            if row["status"] == "hung":
                self.hung.add(program["class"])
            if row["status"] in WRONG and out.exists():
                self.keep(out, f"{program['name']}{''.join(more)}")
        self.rows.add(**row)
        if row["status"] in WRONG:
            print(f"FAILED: {row['name']}: {row['detail']}", flush=True)
        return row

    @staticmethod
    def judged(done, out, wrong):
        if not done.ok():
            return {"status": done.status(), "detail": done.complaint()}
        try:
            detail = wrong(out)
        except (OSError, ValueError, KeyError) as error:  # a result that cannot be read
            detail = f"{type(error).__name__}: {error}"
        return {"status": "failed", "detail": detail} if detail else {"status": "passed"}

    def keep(self, out, name):
        """Adds results that are wrong to the archive, which is readable as far as it goes. Without room they are left
        out."""
        if not self.kept:
            return
        with self.lock:
            size = self.kept.stat().st_size if self.kept.exists() else 0
            try:
                if size + sum(file.stat().st_size + 1024 for file in out.glob("*")) < MAX_KEPT:
                    with tarfile.open(self.kept, "a") as archive:
                        archive.add(out, name)
            except (OSError, tarfile.TarError) as error:
                print(f"cannot keep the results of {name}: {error}", flush=True)
                if self.kept.exists():
                    os.truncate(self.kept, size)  # half an entry would hide those that follow


def round_robin(cases):
    """One case of each class, then another one of each."""
    classes = {}
    for case in cases:
        classes.setdefault(case["class"], []).append(case)
    return [case for cycle in itertools.zip_longest(*classes.values()) for case in cycle if case]


def wrong_cases(results):
    return [case for case, rows in results if any(row["status"] in WRONG for row in rows)]
