# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""predicted_times_test.py [--tighten] [NAME...]: no workload becomes slower, by the model of docs/gpu-cost-sheet.md.

Compiles each workload for sm_90a, predicts the time of its kernels on an H200, prints the sum, and fails when it is more
than 10 % above that in Inputs/predicted-times.json. --tighten writes times that are better now, and those of workloads
that are new; it makes none worse. Needs ptxas and nvdisasm, and is skipped without them. Closes with `predicted times: N
run, N failed`."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "test/Codegen/GPU/Inputs"), str(ROOT / "scripts/cost_sheet")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import chips  # noqa: E402
import kernels  # noqa: E402
import predict  # noqa: E402
import workloads  # noqa: E402

TABLE = ROOT / "test/Codegen/GPU/Inputs/predicted-times.json"
CHIP, SLOWER = "sm_90a", 1.10
ONE_IN = 20  # of a sample


def compiled(text, options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        return kernels.compile_module(path, CHIP, options)[0]


def key(kernel):
    """Equal kernels of several programs are predicted once."""
    code = [(each.guard, each.opcode, each.operands) for each in kernel.code.instructions]
    return repr((kernel.grid(chips.H200.limits.sm_count), kernel.tensors, kernel.shared, code))


def microseconds(kernel):
    return predict.of_kernel(kernel, CHIP) * 1e6


def predict_all(wanted):
    """{name: microseconds}."""
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        programs = list(pool.map(compiled, [text for _, text, _ in wanted], [options for *_, options in wanted]))
        different = {key(kernel): kernel for program in programs for kernel in program}
        # Long ones first, so that none runs alone at the end.
        order = sorted(different, key=lambda each: -len(different[each].code.instructions))
        times = dict(zip(order, pool.map(microseconds, [different[each] for each in order])))
    return {name: sum(times[key(kernel)] * kernel.launches for kernel in program)
            for (name, *_), program in zip(wanted, programs)}


def judge(name, found, known):
    """What is wrong with a predicted time."""
    if name not in known:
        return f"{name} is not in {TABLE.name}; --tighten adds it"
    if not found > 0:
        return f"{name}: {found} us predicted, which is no time"
    if found > SLOWER * known[name]:
        return f"{name}: {found:.1f} us predicted, {known[name]} us committed"
    return None


def tightened(found, known):
    """The table with what is better or new."""
    return {name: min(round(found[name], 1), known.get(name, float("inf"))) if name in found else known[name]
            for name in sorted({*known, *found})}


def check_itself():
    """A workload that is 11 % slower fails, and --tighten keeps the better time."""
    known = {"a": 100.0, "b": 100.0}
    assert judge("a", 111.0, known) and not judge("a", 109.0, known) and judge("c", 1.0, known)
    assert tightened({"a": 120.0, "b": 80.0, "c": 7.0}, known) == {"a": 100.0, "b": 80.0, "c": 7.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tighten", action="store_true")
    parser.add_argument("names", nargs="*", help="workloads (default: all)")
    options = parser.parse_args()
    check_itself()
    try:
        kernels.find_ptxas(), kernels.find_nvdisasm()
    except kernels.ToolFailure as error:
        print(f"predicted times: skipped, {error}\npredicted times: 1 run, 0 failed")
        return 0
    wanted = [each for each in workloads.all_workloads() if not options.names or each[0] in options.names]
    wanted = wanted if options.names or options.tighten else checks.sample(wanted, ONE_IN)
    known = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    found = predict_all(wanted)
    wrong = [text for name in found if (text := judge(name, found[name], known))]
    for name, time in found.items():
        print(f"{name}: {time:.1f} us predicted, {known.get(name, 'none')} committed")
    if options.tighten:
        rows = ",\n".join(f"  {json.dumps(name)}: {time}" for name, time in tightened(found, known).items())
        TABLE.write_text(f"{{\n{rows}\n}}\n")
        wrong = []
    for text in wrong:
        print(f"FAILED: {text}")
    print(f"predicted times: {len(found)} run, {len(wrong)} failed")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
