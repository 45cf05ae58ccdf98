# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Fits the parameters of a chip to the drawn half of the measured kernels, and prints them beside the check of the other
half. `--measure` executes all kernels on paper again and writes their work into the table, which takes minutes.

What is fitted are the nine parameters that data sheets do not give, within bounds that are physical; latencies and sizes
of caches are published figures (chips.py)."""

import argparse
import concurrent.futures
import dataclasses
import json
import math

import chips
import measured
import predict

BOUNDS = {"launch": (1e-6, 3e-6), "memory_share": (0.8, 0.95), "l2_bandwidth": (5e12, 15e12),
          "mma_share": (0.5, 0.8), "wgmma_share": (0.7, 1.0), "issue_share": (0.6, 1.0), "hiding_warps": (4, 64),
          "overlap": (1.5, 6), "fetch": (0, 20)}
ROUNDS, FINEST = 40, 0.01
PATIENCE = math.log(2)  # beyond a factor of 2, deviations count in proportion, so that no kernel pulls all parameters


def loss(cases, timing):
    total = 0.0
    for ratio in measured.ratios(cases, timing):
        deviation = abs(math.log(ratio))
        total += deviation ** 2 if deviation < PATIENCE else PATIENCE * (2 * deviation - PATIENCE)
    return total / len(cases)


def fit(cases, timing):
    """One parameter after the other, in steps that become smaller."""
    best, step = loss(cases, timing), 0.25
    for _ in range(ROUNDS):
        improved = False
        for name, (low, high) in BOUNDS.items():
            for sign in (-1, 1):
                value = min(high, max(low, getattr(timing, name) + sign * step * (high - low)))
                changed = dataclasses.replace(timing, **{name: value})
                if (found := loss(cases, changed)) < best:
                    best, timing, improved = found, changed, True
        step = step if improved else step / 2
        if step < FINEST:
            break
    return timing


def describe(title, cases, timing):
    ratios = measured.ratios(cases, timing)
    print(f"{title}: {len(cases)} kernels, {100 * measured.within(ratios, 1.5):.0f} % within a factor of 1.5, "
          f"{100 * measured.within(ratios, 2):.0f} % of 2; predicted by measured from {min(ratios):.2f} to {max(ratios):.2f}")


def work_of(case, code):
    return dataclasses.asdict(predict.measure(case.kernel({case.name: code}), chips.H200, "sm_90a", case.cold))


def measure(cases):
    code = measured.load_code()
    with concurrent.futures.ProcessPoolExecutor() as pool:
        works = list(pool.map(work_of, cases, [code[case.name] for case in cases]))
    write([dict(case.row, work=work) for case, work in zip(cases, works)])


def write(rows):
    text = ",\n".join(json.dumps(row, sort_keys=True) for row in rows)
    head = json.loads(measured.TABLE.read_text())["about"] if measured.TABLE.exists() else ""
    measured.TABLE.write_text(f'{{"about": {json.dumps(head)}, "kernels": [\n{text}\n]}}\n')


def main():
    parser = argparse.ArgumentParser(prog="fit", description=__doc__)
    parser.add_argument("--measure", action="store_true")
    if parser.parse_args().measure:
        measure(measured.load())
    drawn, others = measured.halves(measured.load())
    timing = fit(drawn, chips.H200)
    for name in BOUNDS:
        print(f"{name} = {getattr(timing, name):.4g}")
    describe("drawn half", drawn, timing)
    describe("other half", others, timing)


if __name__ == "__main__":
    main()
