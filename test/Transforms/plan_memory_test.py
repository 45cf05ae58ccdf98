#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Memory plans of generated programs against brute force: a feed starts the life of a buffer, a receive ends it.

What must hold is worked out here from the program's text alone: no two buffers that are live together overlap; the
lower bound is the largest sum of what is live; the arena is never smaller than that, nor than the best layout of all,
and rarely larger. The race checker refuses exactly the layouts in which two live buffers overlap.
"""

import itertools
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

OPT = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-opt")
UNIT = 64  # bytes that offsets are multiples of
PROGRAMS, BUFFERS = 120, 6
NOT_BEST = 0.05  # of the programs may need more than the best layout does
RATIO = 8.0  # of CPU time for four times the length; quadratic would be 16


def program(name, intervals):
    """Intervals are (first, last, units): the steps at which a buffer is fed and received."""
    lines = [f"func.func @{name}() {{"]
    for step in range(1 + max(last for _, last, _ in intervals)):
        for kind, at in (("feed", 0), ("receive", 1)):
            for number, interval in enumerate(intervals):
                if interval[at] != step:
                    continue
                shape = f"tensor<{interval[2] * UNIT}xi8>"
                lines.append(f'  %b{number} = ad.feed "f" : {shape}' if kind == "feed"
                             else f'  ad.receive "r"(%b{number}) : {shape}')
    return "\n".join([*lines, "  return", "}", ""])


def lifetimes(intervals):
    """First and last line of each buffer in the program: at one step, feeds come before receives, each on a line of its
    own."""
    feeds = sorted((first, 0, number) for number, (first, _, _) in enumerate(intervals))
    receives = sorted((last, 1, number) for number, (_, last, _) in enumerate(intervals))
    spans = {}
    for line, (_, is_receive, number) in enumerate(sorted(feeds + receives)):
        spans.setdefault(number, [line, line])[is_receive] = line
    return [spans[number] for number in range(len(intervals))]


BUFFER = re.compile(r"ad\.buffer <arena(?:, offset = (\d+))?, bytes = (\d+)>")


def buffers_of(planned):
    """Offset and size of each buffer in the arena, in the order of the program."""
    return [(int(offset or 0), int(size)) for offset, size in BUFFER.findall(planned)]


def live_at_once(a, b):
    return a[0] <= b[1] and b[0] <= a[1]


def largest_live_set(spans, sizes):
    return max(sum(size for (first, last), size in zip(spans, sizes) if first <= line <= last)
               for line in range(2 * len(spans)))


def best_layout(spans, sizes):
    """Placing buffers by ascending offset, each as low as it goes, is one of the orders; so the best of all orders is
    the best."""
    best = sum(sizes)
    for order in itertools.permutations(range(len(sizes))):
        places = {}
        for buffer in order:
            taken = sorted((places[other], places[other] + sizes[other])
                           for other in places if live_at_once(spans[buffer], spans[other]))
            offset = 0
            for begin, end in taken:
                if offset + sizes[buffer] <= begin:
                    break
                offset = max(offset, end)
            places[buffer] = offset
        best = min(best, max(places[buffer] + sizes[buffer] for buffer in places))
    return best


def ad_opt(text, *options):
    done = subprocess.run([OPT, "-", *options], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def random_intervals(rng):
    intervals = []
    for _ in range(BUFFERS):
        first, last = sorted(rng.choices(range(8), k=2))
        intervals.append((first, last, rng.randint(1, 9)))
    return intervals


def overlaps(a, b):
    return a[0] < b[0] + b[1] and b[0] < a[0] + a[1]


def is_race_free(spans, places):
    return not any(live_at_once(spans[i], spans[j]) and overlaps(places[i], places[j])
                   for i, j in itertools.combinations(range(len(places)), 2))


def check_layouts(rng, folder):
    cases = [random_intervals(rng) for _ in range(PROGRAMS)]
    report = folder / "report"
    text = "".join(program(f"p{number}", case) for number, case in enumerate(cases))
    code, planned, errors = ad_opt(text, f"--ad-plan-memory=report={report}")
    if code:
        yield errors
        return
    plans = [buffers_of(function) for function in planned.split("func.func")[1:]]
    reports = re.findall(r"@p\d+:\nUsing: (\d+) out of (\d+)\nSaved (\d+)\. Using ([\d.]+)%\nLargest live set: (\d+), at \S+; ([\d.]+)%",
                         report.read_text())
    if not len(plans) == len(reports) == PROGRAMS:
        yield f"{len(plans)} plans and {len(reports)} reports, expected {PROGRAMS}"
        return
    worse = 0
    for number, (case, places, found) in enumerate(zip(cases, plans, reports)):
        # Buffers are numbered as they are fed.
        order = sorted(range(BUFFERS), key=lambda buffer, case=case: (case[buffer][0], buffer))
        spans, sizes = [lifetimes(case)[b] for b in order], [case[b][2] * UNIT for b in order]
        used, total, saved, live = (int(found[i]) for i in (0, 1, 2, 4))
        best, bound = best_layout(spans, sizes), largest_live_set(spans, sizes)
        worse += used > best
        wanted = {"total": (total, sum(sizes)), "saved": (saved, total - used), "lower bound": (live, bound),
                  "percentage": (found[3], f"{100 * used / total:.3f}"),
                  "distance": (found[5], f"{100 * (used - live) / live:.3f}"),
                  "end of the arena": (used, max(offset + size for offset, size in places)),
                  "sizes": ([size for _, size in places], sizes)}
        for what, (got, expected) in wanted.items():
            if got != expected:
                yield f"p{number}: {what} is {got}, expected {expected}"
        if not is_race_free(spans, places):
            yield f"p{number}: live buffers overlap"
        if used < best:
            yield f"p{number}: uses {used}, less than the best layout, {best}"
    print(f"{PROGRAMS} programs, {worse} of them above the best layout")
    if worse > NOT_BEST * PROGRAMS:
        yield f"{worse} of {PROGRAMS} layouts are not the best"


def check_races(rng, _folder):
    """Layouts at random; the checker's verdict is that of brute force."""
    verdicts = {True: 0, False: 0}
    for _ in range(PROGRAMS // 2):
        case = random_intervals(rng)
        code, planned, errors = ad_opt(program("p", case), "--ad-plan-memory")
        if code:
            yield errors
            return
        places = buffers_of(planned)
        # One buffer moves to the offset of another, or a little up.
        moved = rng.randrange(BUFFERS)
        places[moved] = (rng.choice([places[rng.randrange(BUFFERS)][0], rng.randrange(8) * UNIT]), places[moved][1])
        order = sorted(range(BUFFERS), key=lambda buffer, case=case: (case[buffer][0], buffer))
        spans = [lifetimes(case)[b] for b in order]
        written = iter(places)
        text = BUFFER.sub(lambda _: "ad.buffer <arena, offset = {}, bytes = {}>".format(*next(written)), planned)
        expected = is_race_free(spans, places)
        verdicts[expected] += 1
        code, _, errors = ad_opt(text, "--ad-verify-memory-plan")
        if (code == 0) != expected or (code and "memory plan is wrong" not in errors):
            yield f"verdict {code} on a layout that is {'right' if expected else 'wrong'}:\n{text}{errors}"
    print(f"{verdicts[True]} layouts without races, {verdicts[False]} with")
    if min(verdicts.values()) < 5:
        yield "the layouts are too much alike"


def seconds(text):
    """CPU time of the tool; the best of two."""
    times = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, _, errors = ad_opt(text, "--ad-plan-memory", "-o", "/dev/null")
        if code:
            raise RuntimeError(errors)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def check_time(rng, _folder):
    """Many short lives, and lives that all last to the end."""
    for kind in ("short", "to the end"):
        def make(count, kind=kind):
            return program("p", [(i, min(i + rng.randint(0, 40), count) if kind == "short" else count,
                                  rng.randint(1, 9))
                                 for i in range(count)])
        texts = [make(count) for count in (1250, 5000)]
        short, long = (seconds(text) for text in texts)
        print(f"lives {kind}: {long / 10000 * 1e6:.1f} us per operation, {long / short:.1f} times as long for 4 times the operations")
        if long > RATIO * short:
            yield f"planning is not linear (lives {kind})"


def main():
    failed = 0
    checks = [check_layouts, check_races, check_time]
    for check in checks:
        with tempfile.TemporaryDirectory() as name:
            problems = list(check(random.Random(1), pathlib.Path(name)))
        for problem in problems[:5]:
            print(f"FAILED: {check.__name__}: {problem}")
        failed += bool(problems)
    print(f"{len(checks)} run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
