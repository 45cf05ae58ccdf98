# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""ad-diff tensors gives the numbers of NumPy for random tensors of all element types and of many shapes. Sums and means
are compared bit by bit, since they have the order of numpy.sum."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
SHAPES = [(), (1,), (7,), (8, 1), (3, 5, 7), (0, 4), (129,), (1023,), (1024, 3), (40, 33, 31), (70000,)]
THRESHOLDS = [0, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100]
RAW = {"bf16": "V2", "f8E4M3FN": "V1", "f8E5M2": "V1"}
NANS = {"f64": np.nan, "f32": np.nan, "f16": np.nan, "bf16": 0x7FC0, "f8E4M3FN": 0x7F, "f8E5M2": 0x7E}


def run(*words):
    return subprocess.run([str(BIN / "ad-diff"), *map(str, words)], capture_output=True, text=True, timeout=300)


def save(path, element, array):
    np.save(path, array.view(RAW[element]) if element in RAW else array)


def random_pair(generator, element, shape):
    """Two arrays of the storage of the type. Some elements are equal, few are NaN or infinite."""
    if element == "i1":
        return generator.random(shape) < 0.5, generator.random(shape) < 0.5
    if not elements.is_float(element):
        info = np.iinfo(elements.STORAGE[element])
        low, high = generator.integers(info.min, info.max, (2, *shape), dtype=info.dtype, endpoint=True)
        return low, np.where(generator.random(shape) < 0.5, low, high).astype(info.dtype)
    values = generator.standard_normal(shape) * 10.0**generator.integers(-3, 2, shape)
    noise = generator.standard_normal(shape) * np.abs(values) * 10.0**generator.integers(-12, 1, shape)
    noise *= generator.random(shape) < 0.7
    pair = [np.array(elements.encode(element, v)).reshape(shape) for v in (values, values + noise)]
    for array in pair if generator.random() < 0.5 else ():
        array[generator.random(shape) < 0.01] = NANS[element]
    return pair


def place(element, array):
    """The number of a value among those of its type, NaN apart; as Python integers, which do not overflow."""
    if not elements.is_float(element):
        return array.astype(object)
    width = array.dtype.itemsize
    bits = array.view(f"u{width}").astype(object)
    sign = 1 << (8 * width - 1)
    return np.where(bits >= sign, sign - bits, bits)


def expected_ulp(element, left, right):
    if not left.size:
        return 0
    distance = np.abs(place(element, left) - place(element, right))
    if elements.is_float(element):
        nans = [np.isnan(elements.decode(element, array)) for array in (left, right)]
        if (nans[0] != nans[1]).any():
            return "inf"
        distance = np.where(nans[0], 0, distance)
    return int(distance.max())


def expected_fields(element, left, right):
    """By the definition of max_diff."""
    e, g = (elements.decode(element, array).astype(np.float64, order="C") for array in (left, right))
    nans = np.isnan(e), np.isnan(g)
    e, g = (np.nan_to_num(array, nan=1e10) for array in (e, g))
    with np.errstate(over="ignore", invalid="ignore"):
        diff = np.abs(g - e)
        rel = diff / (np.abs(e) + 1e-3)
        fields = {"abs": diff.max(initial=0), "rel": rel.max(initial=0), "sum": diff.sum(), "n": diff.size,
                  "dnan": (nans[0] != nans[1]).sum(), "nan_pairs": (nans[0] & nans[1]).sum()}
    largest = diff
    if element == "i64":  # as integers, of which rel and the thresholds have the rounded difference
        pairs = zip(right.ravel().tolist(), left.ravel().tolist())
        largest = np.empty(left.shape, object)
        largest.reshape(-1)[:] = [abs(r - l) for r, l in pairs]
        diff = largest.astype(np.float64)
        fields |= {"abs": max(largest.ravel(), default=0), "sum": sum(largest.ravel().tolist()),
                   "rel": (diff / (np.abs(e) + 1e-3)).max(initial=0)}
    if diff.size:
        fields["argm"] = [int(i) for i in np.unravel_index(largest.argmax(), diff.shape)]
    counts = {f">{float(t)}": int((diff > t).sum()) for t in THRESHOLDS}
    return fields, counts


def expected_norms(element, left, right):
    """l2 and max, by numbers whose squares do not overflow. What is equal and not finite is in neither norm."""
    e, g = (elements.decode(element, array).astype(np.longdouble).ravel() for array in (left, right))
    finite, same = np.isfinite(e) & np.isfinite(g), (e == g) | (np.isnan(e) & np.isnan(g))
    if not (finite | same).all():
        return {"l2": np.inf, "max": np.inf}
    e, g = np.where(finite, e, 0), np.where(finite, g, 0)
    norms = {"l2": lambda x: np.sqrt((x * x).sum()), "max": lambda x: np.abs(x).max(initial=0)}
    return {name: norm(g - e) / norm(e) if norm(e) else norm(g - e) for name, norm in norms.items()}


def number(value):
    return float(value) if isinstance(value, str) else value


def differences(found, element, left, right):
    fields, counts = expected_fields(element, left, right)
    for name, value in fields.items():
        got = found[name] if name == "argm" else number(found[name])
        # Floats of JSON are those nearest to integers of more than 64 bits.
        if got != (float(value) if isinstance(got, float) and name != "argm" else value):
            yield f"{name} is {found[name]}, expected {value}"
    for name, value in expected_norms(element, left, right).items():
        if not np.isclose(number(found[name]), float(value), rtol=1e-12, atol=0):
            yield f"{name} is {found[name]}, expected {value}"
    if found["counts"] != counts:
        yield f"counts are {found['counts']}, expected {counts}"
    if (ulp := expected_ulp(element, left, right)) != found["ulp"]:
        yield f"ulp is {found['ulp']}, expected {ulp}"


def compare(folder, element, left, right, *options):
    for name, array in (("left", left), ("right", right)):
        save(folder / f"{name}.npy", element, array)
    report = folder / "report.json"
    types = [f"--type={element}"] if element in RAW else []
    done = run("tensors", folder / "left.npy", folder / "right.npy", f"--json={report}", *types, *options)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(report.read_text())["pairs"][0], done.stdout


def check_type(element):
    def check(folder):
        generator = np.random.default_rng(elements.ALL.index(element))
        for shape in SHAPES:
            left, right = random_pair(generator, element, shape)
            for label, pair in (("", (left, right)), ("equal ", (left, left.copy()))):
                found, text = compare(folder, element, *pair)
                yield from (f"{label}{element} {shape}: {wrong}" for wrong in differences(found, element, *pair))
                if found["text"] not in text:
                    yield f"{label}{shape}: the text lacks {found['text']}: {text}"

    return check


def check_every_value(element):
    """All values of a small type, each against a random one."""
    def check(folder):
        storage = elements.STORAGE[element]
        width = np.dtype(storage).itemsize
        left = np.arange(256**width, dtype=f"u{width}").view(storage)
        right = np.random.default_rng(3).permutation(left)
        keep = ~(np.isnan(elements.decode(element, left)) | np.isnan(elements.decode(element, right)))
        found, _ = compare(folder, element, left[keep], right[keep])
        yield from differences(found, element, left[keep], right[keep])

    return check


def check_fortran_order(folder):
    left, right = random_pair(np.random.default_rng(5), "f32", (13, 7, 5))
    found, _ = compare(folder, "f32", np.asfortranarray(left), right)
    yield from differences(found, "f32", left, right)


def check_two_types(folder):
    left = np.random.default_rng(6).standard_normal((50, 3)).astype(np.float32)
    right = left.astype(np.float16)
    np.save(folder / "left.npy", left)
    np.save(folder / "right.npy", right)
    done = run("tensors", folder / "left.npy", folder / "right.npy", f"--json={folder / 'report.json'}")
    found = json.loads((folder / "report.json").read_text())["pairs"][0]
    expected = np.abs(right.astype(np.float64) - left).max()
    if found["abs"] != expected or "ulp" in found or "ulp: element types differ" not in done.stdout:
        yield f"expected abs={expected} and no ulp, got {done.stdout}"


def letters(array):
    """By the definition of fingerprints."""
    values = np.zeros(-(-max(array.size, 1) // 4) * 4)
    values[:array.size] = array.ravel()
    sums = values.reshape(4, -1).sum(axis=1)
    return "".join("?" if not abs(s) < 1e10 else chr(65 + int(s) % 26) for s in sums)


def check_descriptions(folder):
    generator = np.random.default_rng(7)
    for element in elements.ALL:
        for shape in SHAPES:
            left, right = random_pair(generator, element, shape)
            values = elements.decode(element, left).astype(np.float64)
            found = compare(folder, element, left, right, "--describe")[0]["expected"]
            if found["fingerprint"] != (expected := letters(values)):
                yield f"{element} {shape}: fingerprint {found['fingerprint']}, expected {expected}"
            numbers = values[~np.isnan(values)]
            if not numbers.size or numbers.size < values.size:
                continue
            expected = {"min": values.min(), "max": values.max(), "mean": values.mean()}
            if wrong := {name: found[name] for name, value in expected.items() if float(found[name]) != value}:
                yield f"{element} {shape}: {wrong}, expected {expected}"


def check_rotary_tables(folder):
    """The golden fingerprints of the tables of rotary position embedding."""
    frequencies = (1.0 / 10000.0**(np.arange(0, 64, 2, dtype=np.float32) / np.float32(64))).astype(np.float32)
    angles = np.outer(np.arange(2048, dtype=np.float32), frequencies)
    angles = np.concatenate([angles, angles], axis=1)
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    for array, expected in ((cos, "MDRB"), (sin, "ZHDU"), (cos[:1024], "CJYF"), (sin[:1024], "GSEC")):
        found = compare(folder, "f32", array, array, "--describe")[0]["expected"]["fingerprint"]
        if found != expected:
            yield f"expected {expected}, got {found}"
    positions = np.arange(1024)[None]
    if (found := compare(folder, "i64", positions, positions, "--describe")[0]["got"]["fingerprint"]) != "KAQG":
        yield f"positions: expected KAQG, got {found}"


def check_bounds(folder):
    np.save(folder / "a.npy", np.array([1, 2], np.float32))
    np.save(folder / "b.npy", np.array([1, 2.0000005], np.float32))
    np.save(folder / "nan.npy", np.array([1, np.nan], np.float32))
    np.save(folder / "e10.npy", np.array([1, 1e10], np.float32))
    for bound, names, code in (("abs=1e-6,rel=1e-6,ulp=2", "ab", 0), ("ulp=1", "ab", 1), ("abs=1e-8", "ab", 1),
                               ("rel=1e-8,abs=1", "ab", 1), ("ulp=0,abs=0,rel=0", "aa", 0),
                               ("abs=0", ("nan", "nan"), 0), ("abs=inf", ("nan", "e10"), 1)):
        done = run("tensors", *(folder / f"{name}.npy" for name in names), "--bound", bound)
        said = f"bound {bound} {'does not hold' if code else 'holds'}\n"
        if done.returncode != code or not done.stdout.endswith(said):
            yield f"{bound} of {names}: exit code {done.returncode}, {done.stdout}{done.stderr}"


def check_folders(folder):
    for side in ("a", "b"):
        (folder / side).mkdir()
        np.save(folder / side / "same.npy", np.arange(5.0))
        np.save(folder / side / "other.npy", np.arange(4.0) + (side == "b") * np.array([0, 0, 0.25, 0]))
        np.save(folder / side / "turned.npy", np.zeros((2, 3) if side == "a" else (3, 2)))
    np.save(folder / "a/alone.npy", np.zeros(1))
    (folder / "a/.hidden.npy").write_text("half a file")
    done = run("tensors", folder / "a", folder / "b", "--bound=abs=0.1", f"--csv={folder / 'table.csv'}")
    rows = [line.split(",") for line in (folder / "table.csv").read_text().splitlines()]
    if [row[:2] for row in rows] != [["name", "abs"], ["other", "0.25"], ["same", "0.0"]]:
        yield f"the table is {rows}"
    if done.returncode != 2 or "2 pairs compared, 1 equal\nbound abs=0.1 does not hold for other\n" not in done.stdout:
        yield f"exit code {done.returncode}: {done.stdout}"
    for message in ("alone.npy' has no file of its name in", "is tensor<3x2xf64>: expected tensors of one shape"):
        if message not in done.stderr:
            yield f"expected '{message}' in {done.stderr}"
    for name in ("a/alone.npy", "a/turned.npy"):
        (folder / name).unlink()
    (folder / "b/turned.npy").unlink()
    for bound, code in (("abs=0.1", 1), ("abs=0.25", 0)):
        if (done := run("tensors", folder / "a", folder / "b", "--bound", bound)).returncode != code:
            yield f"{bound}: exit code {done.returncode}: {done.stdout}{done.stderr}"


def main():
    cases = [(element, check_type(element)) for element in elements.ALL]
    cases += [(f"every {element}", check_every_value(element)) for element in elements.SMALL_FLOATS]
    cases += [("Fortran order", check_fortran_order), ("two types", check_two_types),
              ("descriptions", check_descriptions), ("rotary tables", check_rotary_tables),
              ("bounds", check_bounds), ("folders", check_folders)]
    return checks.run_checks("tensors", cases)


if __name__ == "__main__":
    sys.exit(main())
