# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Prints what the kernels of a module of the ad dialect cost a GPU, as ptxas and nvdisasm show it, and how long each
runs on an H200 by a model; docs/gpu-cost-sheet.md explains the lines."""

import argparse
import pathlib
import sys

import chips
import kernels
import opcodes
import predict
import report
import sass
import sheet


def time_of(kernel, chip_name):
    """The line of the predicted time, for chips whose times were measured once."""
    if chip_name not in chips.TIMINGS:
        return ""
    timing = chips.TIMINGS[chip_name]
    try:
        return "\n  " + report.time(predict.measure(kernel, timing, chip_name, cold=True), timing)
    except predict.Unpredictable as error:
        return f"\n  time       unknown: {error}"


def main():
    parser = argparse.ArgumentParser(prog="cost_sheet", description=__doc__)
    parser.add_argument("module", type=pathlib.Path, help="a file of the ad dialect")
    parser.add_argument("--chip", choices=sorted(chips.CHIPS), default="sm_90a", help="(default: %(default)s)")
    parser.add_argument("--numerics", default="", help="the mode, as ad-opt has it (default: that of the module, or strict)")
    options = parser.parse_args()
    try:
        if not options.module.is_file():
            raise kernels.ToolFailure(f"no file '{options.module}'")
        found, _ = kernels.compile_module(options.module, options.chip, options.numerics)
        texts = [report.text(kernel, sheet.make(kernel, options.chip)) + time_of(kernel, options.chip)
                 for kernel in found]
    except kernels.ProgramFailure as error:
        print(f"cost_sheet: {error}", file=sys.stderr)
        return 1
    except (kernels.ToolFailure, sass.MalformedListing, opcodes.UnknownOpcode, ValueError, OSError) as error:
        print(f"cost_sheet: {error}", file=sys.stderr)
        return 2
    print("\n\n".join(texts) if texts else "no kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
