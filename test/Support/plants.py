# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Small programs, tensors and tables with one planted change, and what ad-diff must say of it: the first thing that
each function gives is the kind of change, further ones are complaints."""

import json
import re
import subprocess

import numpy as np

import runner

SECONDS = 180


def execute(name, *words):
    return subprocess.run([runner.binary(name), *map(str, words)], capture_output=True, text=True, timeout=SECONDS)


# Named kernels.

ORDERS = ["serial", "pairwise"]
KERNELS = {"dot": ["tf32", "bf16x3", *ORDERS], "softmax": ["online", "unshifted", *ORDERS],
           "log_softmax": ["online", "unshifted", *ORDERS], "layer_norm": ["welford", "one_pass", *ORDERS],
           "reduce_sum": ORDERS, "reduce_mean": ORDERS}
SIZE = 40
ROWS = f"tensor<{SIZE}x{SIZE}xf32>"
FORMS = {"dot": f"ad.dot %A, %w : ({ROWS}, {ROWS}) -> {ROWS}",
         "softmax": f"ad.softmax %A axis 1 : {ROWS}",
         "log_softmax": f"ad.log_softmax %A axis 1 : {ROWS}",
         "layer_norm": f"ad.layer_norm %A, %g, %g epsilon 1.000000e-05 : {ROWS}, tensor<{SIZE}xf32>",
         "reduce_sum": f"ad.reduce_sum %A axes [1] : {ROWS} -> tensor<{SIZE}xf32>",
         "reduce_mean": f"ad.reduce_mean %A axes [1] : {ROWS} -> tensor<{SIZE}xf32>",
         "tanh": f"ad.tanh %A : {ROWS}", "mul": f"ad.mul %A, %w : {ROWS}, {ROWS}", "sin": f"ad.sin %A : {ROWS}"}


def kernel_program(rng, op):
    """A chain of operations, one or two of them `op`."""
    chain = [op] * int(rng.integers(1, 3)) + [str(name) for name in rng.choice(["tanh", "mul", "sin"], 2)]
    if not op.startswith("reduce"):
        chain = [chain[i] for i in rng.permutation(len(chain))]
    else:
        chain = [*chain[-2:], op]
    lines, value = [], "%x"
    for number, name in enumerate(chain):
        lines.append(f"  %v{number} = {FORMS[name].replace('%A', value)}")
        value = f"%v{number}"
    kind = f"tensor<{SIZE}xf32>" if op.startswith("reduce") else ROWS
    return (f'func.func @main(%x: {ROWS} {{ad.name = "x"}}, %w: {ROWS} {{ad.name = "w"}}, '
            f'%g: tensor<{SIZE}xf32> {{ad.name = "g"}}) -> ({kind} {{ad.name = "y"}}) {{\n'
            + "\n".join(lines) + f"\n  return {value} : {kind}\n}}\n")


def plant_kernels(rng, folder):
    """Two named kernels of one operation, which may occur several times."""
    op = str(rng.choice(list(KERNELS)))
    a, b = (str(name) for name in rng.choice(KERNELS[op], 2, replace=False))
    path = folder / "program.mlir"
    path.write_text(kernel_program(rng, op))
    seed = int(rng.integers(1000))
    done = execute("ad-diff", "bisect", path, f"--arg=x=normal:{seed}", f"--arg=w=normal:{seed + 1}",
                   f"--arg=g=uniform:{seed + 2}", f"--a=--kernel {op}={a}", f"--b=--kernel {op}={b}", "--json=-")
    yield f"kernels: {op}"
    if done.returncode:
        yield f"bisect {op}={a} {op}={b}: exit code {done.returncode}: {done.stderr[:400]}"
        return
    report = json.loads(done.stdout)
    if report["cause"] == "none":
        return
    causes = [report, *report["others"]]
    for cause in causes:
        for rewrite in cause["rewrites"]:
            expected = {"A": a, "B": b}.get(cause["side"])
            if (rewrite["rewrite"], rewrite["operation"]) != ("exchange-kernel", f"ad.{op}") or \
                    rewrite["permission"] != expected:
                yield f"bisect {op}={a} {op}={b}: the cause of {cause['side']} is {rewrite}"
    if report["cause"] != "rewrites" or not report["rewrites"]:
        yield f"bisect {op}={a} {op}={b}: no kernel is found, but {report['cause']}"
    elif not report["alone"] or not report["alone_compiles"]:
        yield f"bisect {op}={a} {op}={b}: the cause is not proved"


# NaNs and infinities.

# How a constant of an operation's result is made: the operation, and the constant that makes NaN or an infinity of it.
MAKERS = {"log": -1.0, "sqrt": -2.0, "recip": 0.0, "exp": 1e4, "rsqrt": 0.0, "log1p": -1.0, "exp2": 1e4}
HARMLESS = ["tanh", "neg", "abs", "sin", "relu", "floor"]


def nan_program(rng):
    """(text, line of the operation that makes the NaN or infinity, its name): the operands are constants, or half of
    the time an argument whose values are those."""
    element, size = str(rng.choice(["f32", "f64", "f16"])), int(rng.integers(1, 6))
    kind, constant = f"tensor<{size}x{element}>", bool(rng.integers(4))
    lines = [f'func.func @main(%x: {kind} {{ad.name = "x"}}) -> ({kind} {{ad.name = "y"}}) {{']
    name = str(rng.choice([*MAKERS, "div", "mul", "cast", "loop"]))
    values = [1.0] * size
    at = int(rng.integers(size))

    def dense(numbers):
        return f"dense<[{', '.join(f'{number:.1e}' for number in numbers)}]>"

    source = "%c" if constant else "%x"
    in_loop = name == "loop"
    name = str(rng.choice(list(MAKERS))) if in_loop else name
    given = {"div": 0.0, "mul": 6e4 if element == "f16" else 1e38 if element == "f32" else 1e308, "cast": 1e6}.get(name)
    values[at] = MAKERS[name] if given is None else given
    if name == "cast":
        wide = f"tensor<{size}xf64>"
        lines.append(f"  %c = ad.constant {dense(values)} : {wide}")
        lines.append(f"  %small = ad.cast %c : {wide} -> tensor<{size}xf16>")
        line = len(lines)
        if element != "f16":
            lines.append(f"  %made = ad.cast %small : tensor<{size}xf16> -> {kind}")
        else:
            lines[-1] = lines[-1].replace("%small", "%made")
    else:
        if constant:
            lines.append(f"  %c = ad.constant {dense(values)} : {kind}")
        if rng.integers(2) and name in ("log", "sqrt", "exp", "exp2", "mul"):
            lines.append(f"  %same = ad.floor {source} : {kind}" if name == "mul" else
                         f"  %same = ad.reshape {source} : {kind} -> {kind}")
            source = "%same"
        if in_loop:
            lines += ["  %low = arith.constant 0 : index", "  %high = arith.constant 3 : index",
                      "  %step = arith.constant 1 : index",
                      f"  %made = scf.for %i = %low to %high step %step iter_args(%a = %x) -> ({kind}) {{",
                      f"    %inner = ad.{name} {source} : {kind}", f"    %next = ad.add %a, %inner : {kind}, {kind}",
                      f"    scf.yield %next : {kind}", "  }"]
            line = len(lines) - 3
        elif name == "div":
            lines.append(f"  %one = ad.constant {dense([1.0] * size)} : {kind}")
            lines.append(f"  %made = ad.div %one, {source} : {kind}, {kind}")
            line = len(lines)
        elif name == "mul":
            lines.append(f"  %made = ad.mul {source}, {source} : {kind}, {kind}")
            line = len(lines)
        else:
            lines.append(f"  %made = ad.{name} {source} : {kind}")
            line = len(lines)
    value = "%made"
    for number in range(int(rng.integers(3))):
        lines.append(f"  %h{number} = ad.{rng.choice(HARMLESS)} {value} : {kind}")
        value = f"%h{number}"
    lines += [f"  %y = ad.add {value}, %x : {kind}, {kind}", f"  return %y : {kind}", "}"]
    return "\n".join(lines) + "\n", line, "ad." + name, values, element


def plant_nan(rng, folder):
    """One operation makes NaNs or infinities, of constants or of an argument."""
    text, line, name, values, element = nan_program(rng)
    path = folder / "program.mlir"
    path.write_text(text)
    types = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
    x = np.ones(len(values)) if "%c =" in text else np.array(values)
    np.save(folder / "x.npy", x.astype(types[element]))
    target = str(rng.choice(["reference", "cpu", "cpu", "gpu-sim"]))
    options = ["--cache=off"] if target != "reference" else []
    done = execute("ad-diff", "nan", path, f"--arg=x={folder / 'x.npy'}", f"--target={target}", *options, "--json=-")
    yield "nan: " + ("of constants" if "%c =" in text else "of an argument")
    if done.returncode == 2:
        yield f"nan on {target}: {done.stderr[:400]}"
        return
    report = json.loads(done.stdout)
    origins = [(origin["operation"], int(re.search(r":(\d+):", origin["location"])[1])) for origin in report["origins"]]
    if (name, line) not in origins:
        yield f"nan on {target}: {name} in line {line} is not named, but {origins}"
    elif origins[0] != (name, line):
        yield f"nan on {target}: {name} in line {line} is not the first, but {origins}"
    if any(origin != (name, line) for origin in origins if origin[0] in ("ad.add", "ad.constant", "ad.fusion")):
        yield f"nan on {target}: {origins}, but only {name} in line {line} makes them"


# Tensors.

INTEGERS = {"int8": 8, "int32": 32, "int64": 64}
LOSSY = 2**53


def whole_numbers(rng, dtype, count):
    bits = INTEGERS[dtype]
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    special = [low, high, low + 1, high - 1, 0, 1, -1]
    if bits == 64:
        special += [LOSSY, LOSSY + 1, -LOSSY - 1, 2**62, -(2**62)]

    def draw():
        is_any = rng.integers(2)
        return int(rng.integers(low, high, endpoint=True)) if is_any else special[int(rng.integers(len(special)))]

    return np.array([draw() for _ in range(count)], dtype)


def plant_tensors(rng, folder):
    """Integers that differ in one element, by any distance: compared as Python's integers are."""
    dtype = str(rng.choice(list(INTEGERS) + ["int64", "int64"]))
    left = whole_numbers(rng, dtype, int(rng.integers(1, 3000 if rng.integers(4) == 0 else 9)))
    right, at = left.copy(), int(rng.integers(len(left)))
    right[at] = int(right[at]) ^ 1 if rng.integers(2) else whole_numbers(rng, dtype, 1)[0]
    paths = [folder / "left.npy", folder / "right.npy"]
    for path, array in zip(paths, (left, right)):
        np.save(path, array)
    distance = abs(int(left[at]) - int(right[at]))
    yield f"tensors: {dtype}"
    done = execute("ad-diff", "tensors", *paths, f"--bound=abs={max(distance - 1, 0)}", "--json=-")
    found = json.loads(done.stdout)["pairs"][0]
    if found["ulp"] != distance:
        yield f"tensors: ulp={found['ulp']}, but the difference is {distance}"
    for field in ("abs", "sum"):
        if int(found[field]) != distance:
            yield f"tensors: {field}={found[field]}, but the difference is {distance}"
    if distance and distance <= LOSSY and done.returncode != 1:
        yield f"tensors: a bound of {distance - 1} holds for a difference of {distance}"
    if distance and (found["argm"] != [at] or int(found["expected_at_max"]) != left[at] or
                     int(found["got_at_max"]) != right[at]):
        yield f"tensors: {found}, but element {at} is {left[at]} and {right[at]}"
    equal = json.loads(execute("ad-diff", "matrix", *paths, "--json=-").stdout)
    if (len(equal["equal"]) == 1) != (distance == 0) or int(equal["max"]) != distance:
        yield f"matrix: {equal}, but the difference is {distance}"


# Tables of records.

def letters(array):
    """The fingerprint of whole numbers whose sums are small."""
    parts = np.zeros(4 * -(-array.size // 4), np.int64)
    parts[:array.size] = array.reshape(-1)
    return "".join(chr(ord("A") + int(part.sum()) % 26) for part in parts.reshape(4, -1))


def twin(rng, array):
    """Another tensor of the same fingerprint: two elements of one part change their sum by nothing or 26."""
    other = array.copy()
    part = -(-array.size // 4)
    first = int(rng.integers(max(array.size // part, 1))) * part
    i, j = first, min(first + 1, first + part - 1, array.size - 1)
    change = int(rng.integers(1, 5))
    other.reshape(-1)[i] += 26 if i == j else change
    if i != j:
        other.reshape(-1)[j] -= change
    return other


def write_table(folder, rows, tensors):
    """A table without hashes; `tensors` says whose files are kept."""
    (folder / "values").mkdir(parents=True)
    lines = ["kind\tdtype\tshape\tsummary\top\tname\tvalue"]
    for number, ((kind, op, name, array), kept) in enumerate(zip(rows, tensors)):
        if kept:
            np.save(folder / f"values/{number}.npy", array)
        shape = "x".join(map(str, array.shape))
        lines.append(f"{kind}\t{array.dtype}\t{shape}\t{letters(array)}\t{op}\t{name}\t"
                     + (f"values/{number}.npy" if kept else ""))
    (folder / "records.tsv").write_text("\n".join(lines) + "\n")


def plant_records(rng, folder):
    """Two tables of one length and the same fingerprints, in which some tensors are others, some names are repeated,
    and some tensors are not kept."""
    count = int(rng.integers(2, 9))
    left, right, same = [], [], []
    for number in range(count):
        dtype = str(rng.choice(["float32", "float64", "int64", "int32"]))
        array = rng.integers(-30, 30, int(rng.integers(1, 9))).astype(dtype)
        kind, op = ("INPUT", "") if number == 0 else ("OUTPUT", "") if number == count - 1 else ("RESULT", "ad.op")
        name = f"%v{number // 2 if rng.integers(3) == 0 else number}"
        same.append(bool(rng.integers(2)))
        left.append((kind, op, name, array))
        right.append((kind, op, name, array if same[-1] else twin(rng, array)))
    for side, rows in (("left", left), ("right", right)):
        kept = [bool(rng.integers(4)) for _ in rows] if rng.integers(2) else [True] * count
        write_table(folder / side, rows, kept)
        if side == "left":
            kept_left = kept
    known = [l and r for l, r in zip(kept_left, kept)]
    yield "records"
    report = json.loads(execute("ad-diff", "align", folder / "left", folder / "right", "--json=-").stdout)
    for pair in report["pairs"]:
        l, r = pair["left"], pair["right"]
        if pair["symbol"] == "=" and kept_left[l] and kept[r] and not np.array_equal(left[l][3], right[r][3]):
            yield f"align: records {l} and {r} are marked as equal, but differ"
    if report["distance"] == 0 and any(k and not s for k, s in zip(known, same)):
        yield "align: the distance is 0, although tensors differ"
    done = execute("ad-diff", "runs", folder / "left", folder / "right", "--bound=different=0")
    found = re.search(r"; (\d+) equal, (\d+) different, (?:(\d+) unknown, )?(?:(\d+) guessed, )?", done.stdout)
    if int(found[1]) > sum(known):
        yield f"runs: {found[0]!r}, but tensors of both sides are kept of {sum(known)} records alone"
    if not all(same) and done.returncode == 0:
        yield "runs: the bound different=0 holds, although tensors differ"
    if not all(same) and all(known) and done.returncode != 1:
        yield f"runs: exit code {done.returncode}, although all tensors are kept and some differ"
    if all(same) and all(known) and (done.returncode != 0 or int(found[1]) != count):
        yield f"runs: {found[0]!r}, but all tensors are equal"
