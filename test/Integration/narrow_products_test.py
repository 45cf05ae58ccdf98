# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products of f32 in tf32 and in parts of bf16: the errors of a layer with a large bias, where tf32 is seen and the
accurate forms are not; zeros, halfway cases, subnormal and extreme numbers, infinities, NaN; the rounding to tf32."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

TARGETS = ["reference", "cpu", "gpu-sim"]


def layer(folder, rows, n):
    """Operands scaled to at most 1, a bias of up to 16: the program, its arguments, and the result in f64."""
    rng = np.random.default_rng(0)
    a, x = rng.normal(size=(rows, n)).astype(np.float32), rng.normal(size=(n, n)).astype(np.float32)
    a, x, b = a / a.max(), x / x.max(), ((np.arange(n) + 1) / n * 16).astype(np.float32)
    given = []
    for name, array in (("a", a), ("x", x), ("b", b)):
        elements.save(folder / f"{name}.npy", "f32", array)
        given.append(f"--arg={name}={folder / name}.npy")
    types = f"tensor<{rows}x{n}xf32>", f"tensor<{n}x{n}xf32>", f"tensor<{n}xf32>"
    arguments = ", ".join(f'%{name}: {type_} {{ad.name = "{name}"}}' for name, type_ in zip("axb", types))
    text = (f"func.func @main({arguments}) -> {types[0]} {{\n  %y = ad.gemm %a, %x, %b : ({', '.join(types)}) -> "
            f"{types[0]}\n  return %y : {types[0]}\n}}\n")
    return text, given, a.astype(np.float64) @ x.astype(np.float64) + b


def tf32_switch(folder):
    text, given, exact = layer(folder, 64, 1280)
    runs = {"written": [], **{name: [f"--kernel=gemm={name}"] for name in ("tf32", "bf16x3", "bf16x6", "bf16x9")}}
    limits = {"written": (0, 2e-5), "tf32": (1e-4, 1e-2), "bf16x3": (0, 1e-4), "bf16x6": (0, 2e-5),
              "bf16x9": (0, 2e-5)}
    for name, options in runs.items():
        found = [runner.run(text, given, [("res0", "f32")], [*options, "--target", target])["res0"]
                 for target in ("reference", "cpu")]
        if not np.all(elements.same_bits("f32", *found)):
            yield f"{name}: cpu differs from the reference"
        largest = np.max(np.abs(found[0] - exact))
        if not limits[name][0] <= largest <= limits[name][1]:
            yield f"{name}: the largest error is {largest}, expected from {limits[name][0]} to {limits[name][1]}"


def tf32_tensor_cores(folder):
    """The switch of kernels on a GPU is the permission `narrow`: without it, no mode multiplies in tf32."""
    text, given, exact = layer(folder, 64, 256)
    report = folder / "uses.json"
    for mode, limits in {"strict": (0, 2e-5), "fast": (0, 2e-5), "fast,narrow": (1e-4, 1e-2)}.items():
        for chip in ("sm_80", "sm_90a"):
            found = runner.run(text, given, [("res0", "f32")], [
                "--target", "gpu-sim", "--chip", chip, "--numerics", mode, "--numerics-report", report])["res0"]
            largest = np.max(np.abs(found - exact))
            if not limits[0] <= largest <= limits[1]:
                yield f"{mode}, {chip}: the largest error is {largest}, expected from {limits[0]} to {limits[1]}"
            if ('"tf32"' in report.read_text()) != ("narrow" in mode):
                yield f"{mode}, {chip}: the report says {report.read_text()}"


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3.0e-45, 1e-40, -1.2e-38, 3.4028235e38,
                    -3.4028235e38, 3.39e38, 2.0**100, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-120, 1.9999999], np.float32)


def special_values(folder):
    """One product for each pair, so that a result is one element of the operands' splits. Zeros, halfway cases,
    subnormal and extreme numbers keep the bounds; infinities and NaN give no number."""
    n = len(SPECIAL)
    x, y = f"tensor<{n}x1xf32>", f"tensor<1x{n}xf32>"
    names = ["tf32", "bf16x3", "bf16x6", "bf16x9"]
    lines = [f'  %{i} = ad.dot %x, %y {{ad.named_kernel = "{name}"}} : ({x}, {y}) -> tensor<{n}x{n}xf32>\n'
             for i, name in enumerate(names)]
    result = ", ".join([f"tensor<{n}x{n}xf32>"] * len(names))
    text = (f'func.func @main(%x: {x} {{ad.name = "x"}}, %y: {y} {{ad.name = "y"}}) -> ({result}) {{\n{"".join(lines)}'
            f"  return {', '.join(f'%{i}' for i in range(len(names)))} : {result}\n}}\n")
    elements.save(folder / "x.npy", "f32", SPECIAL.reshape(n, 1))
    elements.save(folder / "y.npy", "f32", SPECIAL.reshape(1, n))
    given = [f"--arg={name}={folder / name}.npy" for name in "xy"]
    runs = {target: runner.run(text, given, [(f"res{i}", "f32") for i in range(len(names))], ["--target", target])
            for target in TARGETS}
    with np.errstate(all="ignore"):
        exact = np.outer(SPECIAL.astype(np.float64), SPECIAL.astype(np.float64))
        written = exact.astype(np.float32)
    # tf32 has no numbers between its largest one, plus half a unit, and the largest f32.
    ends = {name: np.float32(2.0**128 - 2.0**116) if name == "tf32" else np.inf for name in names}
    # A low part of bf16 below 2^-133 is lost.
    lost = 2.0**-133 * (np.abs(np.nan_to_num(SPECIAL, posinf=0, neginf=0)).astype(np.float64) + 1)
    bounds = {"tf32": 2.0**-9, "bf16x3": 2.0**-14, "bf16x6": 2.0**-20, "bf16x9": 2.0**-20}
    for i, name in enumerate(names):
        found = runs["reference"][f"res{i}"]
        for target in TARGETS[1:]:
            if not np.all(elements.same_bits("f32", found, runs[target][f"res{i}"])):
                yield f"{name}: {target} differs from the reference"
        finite = np.abs(SPECIAL) < ends[name]
        finite = finite[:, None] & finite[None, :]
        if np.any(np.isfinite(found[~finite])):
            yield f"{name}: an infinity or NaN became a number"
        with np.errstate(all="ignore"):
            bound = bounds[name] * np.abs(exact) + 2 * (lost[:, None] + lost[None, :]) + 2.0**-149
            wrong = finite & np.isfinite(written) & (np.abs(written) < 2.0**127) & ~(np.abs(found - exact) <= bound)
        if np.any(wrong):
            yield f"{name}: {[(SPECIAL[i], SPECIAL[j], found[i, j]) for i, j in np.argwhere(wrong)[:5]]}"


def veltkamp(folder):
    """The rounding of tf32 is to the nearest number of 11 significant bits: times 1, for random bits."""
    bits = np.random.default_rng(1).integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    x = bits[np.isfinite(bits)]
    elements.save(folder / "x.npy", "f32", x.reshape(-1, 1))
    given = [f"--arg=x={folder / 'x'}.npy", "--dim", f"x.0={len(x)}"]
    text = """func.func @main(%x: tensor<?x1xf32> {ad.name = "x"}) -> tensor<?x1xf32> {
  %one = ad.constant dense<1.0> : tensor<1x1xf32>
  %y = ad.dot %x, %one {ad.named_kernel = "tf32"} : (tensor<?x1xf32>, tensor<1x1xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
"""
    found = runner.run(text, given[:1], [("res0", "f32")], ["--target", "cpu"])["res0"].reshape(-1).astype(np.float64)
    mantissa, exponent = np.frexp(x.astype(np.float64))
    scaled = mantissa * 2.0**11
    low, high = np.floor(scaled), np.ceil(scaled)
    with np.errstate(over="ignore"):
        near = [np.ldexp(side, exponent - 11).astype(np.float32).astype(np.float64) for side in (low, high)]
    nearest = np.where(scaled - low < high - scaled, near[0], near[1])
    tie = scaled - low == high - scaled
    wrong = ~((found == nearest) | (tie & (found == near[0])))
    if np.any(wrong):
        yield f"{[(float(v).hex(), float(f).hex()) for v, f in zip(x[wrong][:5], found[wrong][:5])]}"


def main():
    return checks.run_checks("narrow_products", [
        ("tf32 switch", tf32_switch), ("tf32 on a GPU", tf32_tensor_cores), ("special values", special_values),
        ("rounding to tf32", veltkamp)])


if __name__ == "__main__":
    sys.exit(main())
