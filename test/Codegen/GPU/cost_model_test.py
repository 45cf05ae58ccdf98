# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The model of times keeps what docs/gpu-cost-sheet.md claims: of the measured kernels to which its parameters were not
fitted, so many are predicted within a factor of 1.5. The work of kernels in the table is what the model finds today; the
parameters are those that the fit gives; they lie within their bounds. Small programs of machine code, written here by
hand, check what is executed on paper: trips of loops, sectors, conflicts of banks, waits, blocks without work. It needs
neither ptxas nor nvdisasm."""

import dataclasses
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "test" / "Support"), str(ROOT / "scripts" / "cost_sheet")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import chips  # noqa: E402
import fit  # noqa: E402
import kernels  # noqa: E402
import machine  # noqa: E402
import measured  # noqa: E402
import meter  # noqa: E402
import predict  # noqa: E402

PAGE = ROOT / "docs/gpu-cost-sheet.md"
CHIP = "sm_90a"
SAMPLED = 12  # kernels whose work is found again
TENSOR = kernels.Tensor((4096, 4096), 4, "f32")


def near(found, expected, what, tolerance=0.0):
    return [] if abs(found - expected) <= tolerance * abs(expected) else [f"{what}: expected {expected}, found {found}"]


def claim():
    """(kernels, share within 1.5 in percent, smallest and largest ratio) that the page states of the other half."""
    found = re.search(r"The other half: (\d+) kernels,\s+(\d+) % within\s+a factor of 1\.5,\s+ratios from ([\d.]+) to (\d+\.\d+)",
                      PAGE.read_text())
    return int(found[1]), int(found[2]), float(found[3]), float(found[4])


def check_held_out_half(_):
    cases, (count, share, low, high) = measured.halves(measured.load())[1], claim()
    ratios = measured.ratios(cases, chips.H200)
    yield from near(len(cases), count, "kernels of the other half")
    yield from near(round(100 * measured.within(ratios, 1.5)), share, "percent within a factor of 1.5")
    yield from near(round(min(ratios), 2), low, "smallest ratio")
    yield from near(round(max(ratios), 2), high, "largest ratio")


def check_a_wrong_model_is_seen(_):
    """The check above is none of everything: with half the bandwidths, or without latencies, the claim fails."""
    cases, (_, share, *_) = measured.halves(measured.load())[1], claim()
    slower = dataclasses.replace(chips.H200, memory_share=chips.H200.memory_share / 3,
                                 l2_bandwidth=chips.H200.l2_bandwidth / 3, issue_share=chips.H200.issue_share / 3)
    blind = [dataclasses.replace(case, work=dataclasses.replace(case.work, latency=0.0, code=0)) for case in cases]
    for what, ratios in (("a third of the bandwidth", measured.ratios(cases, slower)),
                         ("no latency", measured.ratios(blind, chips.H200))):
        if 100 * measured.within(ratios, 1.5) > share - 5:
            yield f"{what} is not seen: {100 * measured.within(ratios, 1.5):.0f} % within a factor of 1.5"


def check_parameters(_):
    """Fitted to the drawn half alone, and physical."""
    drawn, _ = measured.halves(measured.load())
    again = fit.fit(drawn, chips.H200)
    if fit.loss(drawn, again) < 0.98 * fit.loss(drawn, chips.H200):
        yield "the parameters in chips.py are not those of the fit; run scripts/cost_sheet/fit.py"
    for name, (low, high) in fit.BOUNDS.items():
        if not low <= getattr(chips.H200, name) <= high:
            yield f"{name} is {getattr(chips.H200, name)}, not between {low} and {high}"


def check_work_is_that_of_the_model(_):
    cases = sorted(measured.load(), key=lambda case: case.name)
    offset = max(checks.SAMPLE, 0) % (len(cases) // SAMPLED)
    chosen = [case for case in cases[offset::len(cases) // SAMPLED] if case.row["class"] != "contraction"]
    code = measured.load_code({case.name for case in chosen})
    for case in chosen:
        found = fit.work_of(case, code[case.name])
        for name, value in case.row["work"].items():
            pairs = [(found[name][unit], value[unit]) for unit in value] if isinstance(value, dict) else [(found[name],
                                                                                                      value)]
            if not all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in pairs):
                yield f"{case.name}: {name} is {found[name]}, the table has {value}; run fit.py --measure"


#===- Machine code that is written by hand ---------------------------------===#


def compiled(*lines, blocks=132, threads=32, tensors=(TENSOR, TENSOR)):
    launch = {"level": "block", "axes": 0, "grid_size": blocks, "threads_per_block": threads}
    return kernels.Compiled("kernel", "elementwise", [tensors[0]], list(tensors[1:]),
                            {8 * number: number for number in range(len(tensors))}, 0, launch, 32, 0, 0,
                            measured.expand("kernel", lines))


def counted(*lines, **options):
    """The counts and the clock of the first block."""
    kernel = compiled(*lines, **options)
    launch = predict.launch_of(kernel, chips.H200.limits)
    found, _ = predict.run_block(kernel, chips.H200, CHIP, launch, 0, frozenset())
    return dict(zip(meter.NAMES, found.counts)), found


HEAD = ["S2R R0, SR_TID.X", "LDC.64 R2, c[0x0][0x210]"]


def address(stride):
    return [*HEAD, f"IMAD.WIDE.U32 R4, R0, {hex(stride)}, R2"]


def check_trips_of_loops(_):
    """A loop of n iterations costs n times its instructions, whether it is executed or skipped."""
    for trips in (3, 100, 1_000_000):
        counts, _ = counted("MOV R1, RZ", ".L_x_0:", "FADD R8, R8, R9", "IADD3 R1, R1, 0x1, RZ",
                            f"ISETP.GE.U32.AND P0, PT, R1, {hex(trips)}, PT", "@!P0 BRA `(.L_x_0)", "EXIT")
        yield from near(counts["issue"], 4 * trips + 2, f"instructions of {trips} iterations")
        yield from near(counts["fp32"], trips, f"sums of {trips} iterations")
    halving, _ = counted("MOV R1, 0x400", ".L_x_0:", "SHF.R.U32.HI R1, RZ, 0x1, R1",
                         "ISETP.NE.U32.AND P0, PT, R1, RZ, PT", "@P0 BRA `(.L_x_0)", "EXIT")
    yield from near(halving["issue"], 11 * 3 + 2, "a loop that halves its number is not skipped")


def check_extremes_of_sums(_):
    """A sum, and the smaller or larger of it and a third number, signed or not: the trips of a loop."""
    for suffix, operands, trips in ((".U32", "R1, 0x5, R2, PT", 15), (".U32", "R1, 0x5, R2, !PT", 100),
                                    ("", "R1, -0x20, R3, PT", 1), ("", "R1, -0x20, R3, !PT", 7)):
        counts, _ = counted("MOV R1, 0xa", "MOV R2, 0x64", "MOV R3, 0x7", f"VIADDMNMX{suffix} R4, {operands}", "MOV R5, RZ",
                            ".L_x_0:", "FADD R8, R8, R9", "IADD3 R5, R5, 0x1, RZ", "ISETP.GE.AND P0, PT, R5, R4, PT",
                            "@!P0 BRA `(.L_x_0)", "EXIT")
        yield from near(counts["fp32"], trips, f"sums after VIADDMNMX{suffix} R4, {operands}")


def check_sectors(_):
    for stride, sectors, lines in ((4, 4, 1), (16, 16, 4), (128, 32, 32), (0, 1, 1)):
        counts, _ = counted(*address(stride), "LDG.E R6, desc[UR4][R4.64]", "EXIT")
        yield from near(counts["l2_reads"], sectors, f"sectors of a warp that reads words {stride} bytes apart")
        yield from near(counts["lines"], lines, f"lines of a warp that reads words {stride} bytes apart")
    counts, _ = counted(*address(4), "LDG.E R6, desc[UR4][R4.64]", "LDG.E R7, desc[UR4][R4.64]", "EXIT")
    yield from near(counts["l2_reads"], 4, "what was read before comes from L1")


def check_conflicts(_):
    for stride, passes in ((4, 1), (8, 2), (128, 32), (0, 1), (132, 1)):
        counts, _ = counted("S2R R0, SR_TID.X", f"IMAD R1, R0, {hex(stride)}, RZ", "LDS R2, [R1]", "EXIT")
        yield from near(counts["shared"], passes, f"passes over shared memory, {stride} bytes apart")


def check_waits(_):
    """Dependent loads wait for each other, independent ones do not."""
    latency = chips.H200.latency["memory"]
    load, other = "LDG.E R6, desc[UR4][R4.64]", "LDG.E R7, desc[UR4][R4.64+0x100000]"
    _, both = counted(*address(4), load, other, "FADD R8, R6, R7", "EXIT")
    _, chain = counted(*address(4), load, "LOP3.LUT R6, R6, 0x0, RZ, 0xc0, !PT", "IADD3 R4, R4, R6, RZ",
                       other, "FADD R8, R7, R7", "EXIT")
    yield from near(both.clock.max(), latency, "two loads at once", 0.1)
    yield from near(chain.clock.max(), 2 * latency, "a load after the other", 0.1)


def check_one_side_of_a_branch(_):
    """All threads go one way; where they part, both sides cost."""
    for condition, expected in (("ISETP.GE.U32.AND P0, PT, R0, 0x40, PT", 8), ("ISETP.GE.U32.AND P0, PT, R0, 0x10, PT", 9)):
        counts, _ = counted("S2R R0, SR_TID.X", condition, "@P0 BRA `(.L_x_0)", "FADD R1, R1, R1", "FADD R1, R1, R1",
                            "FADD R1, R1, R1", "BRA `(.L_x_1)", ".L_x_0:", "FMUL R1, R1, R1", ".L_x_1:", "EXIT")
        yield from near(counts["issue"], expected, condition)


def check_waves(_):
    """The last block costs a wave, and blocks without work are found."""
    lines = [*address(4), "LDG.E R6, desc[UR4][R4.64]", "FADD R6, R6, R6", "EXIT"]
    latency = lambda blocks: predict.measure(compiled(*lines, blocks=blocks, threads=1024), chips.H200, CHIP,  # noqa: E731
                                             True).latency
    yield from near(latency(132 * 2), latency(132), "two blocks fit an SM", 0.1)
    yield from near(latency(132 * 2 + 1), 2 * latency(132), "a block more", 0.1)
    idle = ["S2R R0, SR_CTAID.X", "ISETP.NE.U32.AND P0, PT, R0, RZ, PT", "@P0 EXIT", "MOV R1, RZ", ".L_x_0:",
            "IADD3 R1, R1, 0x1, RZ", "ISETP.GE.U32.AND P0, PT, R1, 0x10000, PT", "@!P0 BRA `(.L_x_0)", "EXIT"]
    if predict.measure(compiled(*idle), chips.H200, CHIP, True).latency < 1 << 16:
        yield "the block that works is not found"


def check_refusals(_):
    """What cannot be executed is an error, and so is a loop without end."""
    machine.STEPS = machine.STEPS_WITHOUT_OUTER = 2000
    for lines in ((*address(4), "NEWOP R4, R4", "STG.E desc[UR4][R4.64], R0", "EXIT"), (".L_x_0:", "NOP",
                                                                                  "BRA `(.L_x_0)", "EXIT")):
        try:
            counted(*lines)
            yield f"{lines[-2]} is not refused"
        except (*predict.Unpredictable, ValueError) as error:
            if not str(error):
                yield "an error without a message"


CHECKS = {name.removeprefix("check_"): function for name, function in list(globals().items())
          if name.startswith("check_")}

if __name__ == "__main__":
    sys.exit(checks.run_checks("cost_model_test", list(CHECKS.items())))
