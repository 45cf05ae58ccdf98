#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Mixed precision from a policy as a whole. A program under a policy gives the bits of the same program with casts
written by hand, on every target; gradients of f32 parameters are f32; the digits perceptron reads as well in bf16 as in
f32. Closes with `mixed precision: N run, N failed`."""

import functools
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "examples/digits")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import prepare  # noqa: E402
import runner  # noqa: E402

TARGETS = {target: ["--target", target, "--numerics", "reproducible"] for target in ("reference", "cpu", "gpu-sim")}
MAX_LOST = 0.01  # of the accuracy on the held-out digits

MAIN = """
func.func @main(%w: tensor<24x16xf32> {ad.name = "w"}, %v: tensor<16x24xf32> {ad.name = "v"},
                %b: tensor<16xf32> {ad.name = "b"}, %x: tensor<40x24xf32> {ad.name = "x"})
    -> (tensor<f32> {ad.name = "loss"}, tensor<24x16xf32> {ad.name = "dw"}, tensor<16x24xf32> {ad.name = "dv"},
        tensor<16xf32> {ad.name = "db"}) {
  %loss, %dw, %dv, %db = ad.value_and_grad @loss(%w, %v, %b, %x) wrt [0, 1, 2]
      : (tensor<24x16xf32>, tensor<16x24xf32>, tensor<16xf32>, tensor<40x24xf32>)
      -> (tensor<f32>, tensor<24x16xf32>, tensor<16x24xf32>, tensor<16xf32>)
  return %loss, %dw, %dv, %db : tensor<f32>, tensor<24x16xf32>, tensor<16x24xf32>, tensor<16xf32>
}
"""
HEAD = """
func.func private @loss(%w: tensor<24x16xf32>, %v: tensor<16x24xf32>, %b: tensor<16xf32>, %x0: tensor<40x24xf32>)
    -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
"""
# Three layers that share their parameters: products, a bias, an activation that the policy keeps narrow, a softmax.
PLAIN = HEAD + """
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %x0) -> (tensor<40x24xf32>) {
    %p = ad.dot %x, %w : (tensor<40x24xf32>, tensor<24x16xf32>) -> tensor<40x16xf32>
    %q = ad.add %p, %b : tensor<40x16xf32>, tensor<16xf32>
    %r = ad.relu %q : tensor<40x16xf32>
    %t = ad.dot %r, %v : (tensor<40x16xf32>, tensor<16x24xf32>) -> tensor<40x24xf32>
    %a = ad.abs %t : tensor<40x24xf32>
    %s = ad.softmax %a axis 1 : tensor<40x24xf32>
    %y = ad.add %s, %x : tensor<40x24xf32>
    scf.yield %y : tensor<40x24xf32>
  }
  %square = ad.mul %last, %last : tensor<40x24xf32>
  %loss = ad.reduce_mean %square axes [0, 1] : tensor<40x24xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
"""
# LOW is the narrow type.
BY_HAND = HEAD + """
  %w16 = ad.cast %w : tensor<24x16xf32> -> tensor<24x16xLOW>
  %v16 = ad.cast %v : tensor<16x24xf32> -> tensor<16x24xLOW>
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %x0) -> (tensor<40x24xf32>) {
    %x16 = ad.cast %x : tensor<40x24xf32> -> tensor<40x24xLOW>
    %p16 = ad.dot %x16, %w16 : (tensor<40x24xLOW>, tensor<24x16xLOW>) -> tensor<40x16xLOW>
    %p = ad.cast %p16 : tensor<40x16xLOW> -> tensor<40x16xf32>
    %q = ad.add %p, %b : tensor<40x16xf32>, tensor<16xf32>
    %r = ad.relu %q : tensor<40x16xf32>
    %r16 = ad.cast %r : tensor<40x16xf32> -> tensor<40x16xLOW>
    %t = ad.dot %r16, %v16 : (tensor<40x16xLOW>, tensor<16x24xLOW>) -> tensor<40x24xLOW>
    %a16 = ad.abs %t : tensor<40x24xLOW>
    %a = ad.cast %a16 : tensor<40x24xLOW> -> tensor<40x24xf32>
    %s = ad.softmax %a axis 1 : tensor<40x24xf32>
    %y = ad.add %s, %x : tensor<40x24xf32>
    scf.yield %y : tensor<40x24xf32>
  }
  %square = ad.mul %last, %last : tensor<40x24xf32>
  %loss = ad.reduce_mean %square axes [0, 1] : tensor<40x24xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
"""
RESULTS = [(name, "f32") for name in ("loss", "dw", "dv", "db")]


def write_arguments(folder):
    rng = np.random.default_rng(3)
    options = []
    for name, shape in {"w": (24, 16), "v": (16, 24), "b": (16,), "x": (40, 24)}.items():
        np.save(folder / f"{name}.npy", rng.normal(size=shape).astype(np.float32) / 4)
        options.append(f"--arg={name}={folder / name}.npy")
    return options


def check_by_hand(policy, folder):
    arguments = write_arguments(folder)
    expected = runner.run(BY_HAND.replace("LOW", policy) + MAIN, arguments, RESULTS, TARGETS["reference"])
    plain = runner.run(PLAIN + MAIN, arguments, RESULTS, TARGETS["reference"])
    if all(expected[name].tobytes() == plain[name].tobytes() for name, _ in RESULTS):
        yield "the casts change nothing, so that the check shows nothing"
    for target, options in TARGETS.items():
        for given in ([*options, "--precision", policy], options):
            module = PLAIN + MAIN if "--precision" in given else \
                f"module attributes {{ad.precision = #ad.precision<{policy}>}} {{{PLAIN}{MAIN}}}"
            found = runner.run(module, arguments, RESULTS, given)
            for name, _ in RESULTS:
                if found[name].tobytes() != expected[name].tobytes():
                    yield f"{target}, {given[-1]}: {name} differs from the program with casts"


def check_sums_by_hand(policy, folder):
    """`accumulate: f32` is the casts by hand with the attribute of the function."""
    arguments = write_arguments(folder)
    hand = BY_HAND.replace("LOW", policy)
    narrow = runner.run(hand + MAIN, arguments, RESULTS, TARGETS["reference"])
    wide = hand.replace("-> tensor<f32> {\n", "-> tensor<f32> attributes {ad.cotangent_sums = f32} {\n", 1)
    expected = runner.run(wide + MAIN, arguments, RESULTS, TARGETS["reference"])
    if all(expected[name].tobytes() == narrow[name].tobytes() for name, _ in RESULTS):
        yield "sums in f32 change nothing, so that the check shows nothing"
    command = [runner.binary("ad-runner"), "--print-precision", policy]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    file = folder / "sums.yaml"
    file.write_text(text.replace("accumulate: narrow", "accumulate: f32"))
    for target, options in TARGETS.items():
        found = runner.run(PLAIN + MAIN, arguments, RESULTS, [*options, "--precision", str(file)])
        yield from (f"{target}: {name} differs from the program with casts" for name, _ in RESULTS
                    if found[name].tobytes() != expected[name].tobytes())


def check_gradients_are_wide(folder):
    """The function that differentiation made has no types but f32 in its signature, and computes in bf16."""
    program = folder / "program.mlir"
    program.write_text(PLAIN + MAIN)
    command = [runner.binary("ad-opt"), str(program), "--ad-autocast=policy=bf16", "--ad-differentiate"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for signature in re.findall(r"func\.func .*", text):
        if "bf16" in signature:
            yield f"a signature has a narrow type: {signature}"
    if "bf16" not in text:
        yield "nothing computes in bf16"


def accuracy(folder, *options):
    folder.mkdir()
    prepare.write_inputs(*prepare.make_inputs("mlp", seed=0), folder / "inputs")
    arguments = (folder / "inputs/arguments").read_text().splitlines()
    command = [runner.binary("ad-runner"), str(ROOT / "examples/digits/mlp.mlir"), *arguments, f"--out-dir={folder}",
               "--cache=off", *options]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return float(np.load(folder / "accuracy.npy")), np.load(folder / "loss.npy")


def check_digits(folder):
    wide, losses = accuracy(folder / "f32")
    narrow, narrow_losses = accuracy(folder / "bf16", "--precision", "bf16")
    print(f"digits mlp: accuracy {100 * wide:.1f} % in f32, {100 * narrow:.1f} % in bf16")
    if np.array_equal(losses, narrow_losses):
        yield "bf16 gives the losses of f32"
    if abs(wide - narrow) > MAX_LOST:
        yield f"accuracy {narrow:.4f} in bf16, {wide:.4f} in f32"


def main():
    by_hand = [(f"{policy} {what} by hand", functools.partial(check, policy)) for policy in ("bf16", "f16")
               for what, check in (("casts", check_by_hand), ("sums", check_sums_by_hand))]
    return checks.run_checks("mixed precision", [*by_hand, ("gradients are f32", check_gradients_are_wide),
                                                 ("digits", check_digits)])


if __name__ == "__main__":
    sys.exit(main())
