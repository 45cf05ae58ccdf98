# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""scripts/test.sh runs every test there is, but the campaigns that are named here; each pass has a lit test that looks
at its output or its diagnostics; each operation that programs are written with, on each element type, either runs on
both targets, to the same bits, or is refused by a located diagnostic; a target that this build lacks is named.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import records  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
TYPES = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i1", "i8", "i32", "i64", "i16", "f128", "complex<f32>"]
UNARY = [*records.unary(), "barrier", "stop_gradient"]
BINARY = records.binary()
# By operation: the text after the mnemonic, and the type of the result; T is tensor<4x3xELEMENT>, E the element, V
# a number; %n is a tensor of i64, %r one of f32.
SPECIAL = {
    "constant": ("dense<V> : T", "T"),
    "full": ("%e : E -> T", "T"),
    "feed": ("\"f\" : T", "T"),
    "pad": ("%x, %s low [1, 0] high [0, 2] interior [0, 1] : T, tensor<E>", "tensor<5x7xE>"),
    "is_finite": ("%x : T -> tensor<4x3xi1>", "tensor<4x3xi1>"),
    "cast": ("%x : T -> tensor<4x3xf32>", "tensor<4x3xf32>"),
    "bitcast": ("%x : T -> T", "T"),
    "compare": ("lt %x, %y : T", "tensor<4x3xi1>"),
    "select": ("%c, %x, %y : tensor<4x3xi1>, T, T", "T"),
    "clamp": ("%x, %y, %y : T, T, T", "T"),
    "fma": ("%x, %y, %x : T, T, T", "T"),
    "iota": ("axis 0 : T", "T"),
    "rng_bits": ("%n, %n : tensor<4x3xi64>, tensor<4x3xi64> -> T", "T"),
    "rng_uniform": ("%n, %n : tensor<4x3xi64>, tensor<4x3xi64> -> T", "T"),
    "rng_normal": ("%n, %n : tensor<4x3xi64>, tensor<4x3xi64> -> T", "T"),
    "cast_stochastic": ("%r, %n, %n : tensor<4x3xf32>, tensor<4x3xi64>, tensor<4x3xi64> -> T", "T"),
    "reshape": ("%x : T -> tensor<12xE>", "tensor<12xE>"),
    "broadcast": ("%x : T -> tensor<2x4x3xE>", "tensor<2x4x3xE>"),
    "sum_to_shape": ("%x : T -> tensor<1x3xE>", "tensor<1x3xE>"),
    "transpose": ("%x [1, 0] : T", "tensor<3x4xE>"),
    "slice": ("%x [0, 1] strides [1, 1] : T -> tensor<2x2xE>", "tensor<2x2xE>"),
    "dynamic_slice": ("%x[%i, %i] : T -> tensor<2x2xE>", "tensor<2x2xE>"),
    "gather": ("%x[%n] axes [0] slices [2] : T, tensor<4x3xi64>", "tensor<4x3x3xE>"),
    "take": ("%x, %n axis 0 : T, tensor<4x3xi64>", "tensor<4x3x3xE>"),
    "embedding": ("%x, %n : T, tensor<4x3xi64>", "tensor<4x3x3xE>"),
    "scatter": ("set %x[%n], %y axes [0] batch [1] x [1] : T, tensor<4x3xi64>, T", "T"),
    "argsort": ("%x axis 1 : T", "tensor<4x3xi64>"),
    "sort": ("%x axis 1 : T", "T"),
    "top_k": ("%x axis 1 k 2 : T", "tensor<4x2xE>"),
    "conv": ('%x, %y dims "0c,0o->co0" low [1] high [2] : (T, T) -> tensor<3x3x4xE>', "tensor<3x3x4xE>"),
    "reduce_window": ("max %x window [2, 1] : T", "tensor<3x3xE>"),
    "arg_reduce_window": ("max %x window [2, 1] : T", "tensor<3x3xi64>"),
    "spread_window": ("%x window [2, 1] : (T) -> tensor<5x3xE>", "tensor<5x3xE>"),
    "dynamic_update_slice": ("%x, %y[%i, %i] : T, T", "T"),
    "concat": ("axis 0 %x, %y : T, T", "tensor<8x3xE>"),
    "reverse": ("%x axes [0] : T", "T"),
    "dot": ("%x, %y contract [1] x [1] : (T, T) -> tensor<4x4xE>", "tensor<4x4xE>"),
    "gemm": ("%x, %y {transB} : (T, T) -> tensor<4x4xE>", "tensor<4x4xE>"),
    "scaled_dot": ("%x, %y contract [1] x [1] : (T, T) -> tensor<4x4xE>", "tensor<4x4xE>"),
    **{f"reduce_{kind}": ("%x axes [1] : T -> tensor<4xE>", "tensor<4xE>") for kind in "sum prod max min mean".split()},
    **{name: ("%x axis 1 : T", "tensor<4xi64>") for name in ("argmax", "argmin")},
    **{name: ("%x axis 1 : T", "T") for name in ("cumsum", "cumprod", "cummax", "cummin")},
    "softmax": ("%x axis 1 : T", "T"),
    "log_softmax": ("%x axis 1 : T", "T"),
    **{name: (f"%x{', %v' * count} epsilon 1.0e-5 : T, tensor<3xE>", "T") for name, count in records.norms().items()},
    "cross_entropy": ("%x, %y : T, T -> tensor<4xE>", "tensor<4xE>"),
    "one_hot": ("%x axis 1 : T -> tensor<4x5x3xE>", "tensor<4x5x3xE>"),
    "logsumexp": ("%x axis 1 : T", "tensor<4xE>"),
    "rotary_embedding": ("%even, %places base 1.0e4 : tensor<3x4xE>, tensor<3xi64>", "tensor<3x4xE>"),
    "dropout": ("%x, %key, %key rate 0.25 : T", "T"),
    "group_norm": ("%x, %v, %v groups 3 axis 1 epsilon 1.0e-5 : T, tensor<3xE>", "T"),
    "batch_norm": ("%x, %v, %v axis 1 epsilon 1.0e-5 : T, tensor<3xE>", "T"),
    "batch_norm_inference": ("%x, %v, %v, %v, %v axis 1 epsilon 1.0e-5 : T, tensor<3xE>, tensor<3xE>", "T"),
    "attention": ("%heads, %heads, %heads causal : H, H, H", "H"),
    "attention_grad": ("%heads, %heads, %heads, %logs, %logs, %heads : H, H, H, L, L, H", "H"),
}
# Lines that make the operands of others.
HEADS = "%heads = ad.reshape %x : T -> H"
NUMBER = "%number = ad.slice %n [0, 0] strides [1, 1] : tensor<4x3xi64> -> tensor<1x1xi64>"
BEFORE = {
    "rotary_embedding": ["%even = ad.reshape %x : T -> tensor<3x4xE>",
                         "%row = ad.slice %n [0, 0] strides [1, 1] : tensor<4x3xi64> -> tensor<1x3xi64>",
                         "%places = ad.reshape %row : tensor<1x3xi64> -> tensor<3xi64>"],
    "dropout": [NUMBER, "%key = ad.reshape %number : tensor<1x1xi64> -> tensor<i64>"],
    "attention": [HEADS],
    "attention_grad": [HEADS, "%part = ad.slice %heads [0, 0, 0, 0] strides [1, 1, 1, 1] : H -> tensor<1x2x2x1xE>",
                       "%sums = ad.reshape %part : tensor<1x2x2x1xE> -> tensor<1x2x2xE>",
                       "%logs = ad.cast %sums : tensor<1x2x2xE> -> L"],
}
# Their second result is looked at, and they differentiate a function of their own.
DERIVATIVES = {
    "vjp": ("@vjp_of(%x) cotangents(%y) wrt [0] : (T, T) -> (T, T)", "T"),
    "value_and_grad": ("@value_and_grad_of(%x) wrt [0] : (T) -> (tensor<E>, T)", "T"),
}
DIFFERENTIATED = {
    "vjp": ("%y = ad.mul %x, %x : T", "T"),
    "value_and_grad": ("%y = ad.reduce_sum %x axes [0, 1] : T -> tensor<E>", "tensor<E>"),
}
# Others with several results, and how many.
SEVERAL = {"batch_norm": 3, "scaled_dot": 3, "top_k": 2, "attention": 2, "attention_grad": 3}
# In every program here, or only after ad-fuse.
ELSEWHERE = "receive fusion kernel launch buffer copy yield elementary convert require guard".split()
# Campaigns that CI does not run: they compile libraries once more, for minutes, or need PyTorch.
APART = ["mutations", "parser", "pytorch", "races"]


def operations():
    """By name: the statement without its result, and the type of that."""
    return {**{name: ("%x : T", "T") for name in UNARY}, **{name: ("%x, %y : T", "T") for name in BINARY},
            **SPECIAL, **DERIVATIVES}


def fill(text, element):
    number = "2.0" if "f" in element[:2] else "(2.0, 0.0)"
    value = "true" if element == "i1" else "2" if element.startswith("i") else number
    parts = {r"(?<=[x<\s])E\b": element, r"\bV\b": value, r"\bT\b": f"tensor<4x3x{element}>",
             r"\bH\b": f"tensor<1x2x2x3x{element}>", r"\bL\b": f"tensor<1x2x2x{'f64' if element == 'f64' else 'f32'}>"}
    for part, meaning in parts.items():
        text = re.sub(part, meaning, text)
    return text


def statement(name, element):
    body, result = operations()[name]
    results = (f"%{name}:2", f"%{name}#1") if name in DERIVATIVES else (f"%{name}", f"%{name}")
    if name in SEVERAL:  # the first result is looked at
        results = (f"%{name}:{SEVERAL[name]}", f"%{name}#0")
    return f"{results[0]} = ad.{name} {fill(body, element)}", results[1], fill(result, element)


def function(names, element):
    lines = []
    for name in DERIVATIVES:
        if name in names:
            body, result = (fill(text, element) for text in DIFFERENTIATED[name])
            lines += [fill(f"func.func private @{name}_of(%x: T) -> {result} {{", element), f"  {body}",
                      f"  return %y : {result}", "}"]
    lines += [f"func.func @main(%x: tensor<4x3x{element}> {{ad.name = \"x\"}}, "
              f"%y: tensor<4x3x{element}> {{ad.name = \"y\"}}, "
              f"%v: tensor<3x{element}> {{ad.name = \"v\"}}, %c: tensor<4x3xi1> {{ad.name = \"c\"}}, "
              f"%s: tensor<{element}> {{ad.name = \"s\"}}, "
              "%n: tensor<4x3xi64> {ad.name = \"n\"}, %r: tensor<4x3xf32> {ad.name = \"r\"}) {",
              "  %i = arith.constant 0 : index", f"  %e = tensor.extract %s[] : tensor<{element}>"]
    lines += ["  " + fill(line, element) for line in dict.fromkeys(sum((BEFORE.get(name, []) for name in names), []))]
    for name in names:
        text, value, result = statement(name, element)
        lines += ["  " + text, f"  ad.receive \"{name}\"({value}) : {result}"]
    return lines + ["  return", "}"]


def verify(folder):
    """Which operations exist on which types, and what is wrong: chunks that neither pass nor get an error of their
    own."""
    lines, spans = [], {}
    for element in TYPES:
        for name in operations():
            first = len(lines) + 1
            lines += function([name], element)
            spans[name, element] = range(first, len(lines) + 1)
            lines.append("// -----")
    file = folder / "all.mlir"
    file.write_text("\n".join(lines) + "\n")
    done = subprocess.run([BIN / "ad-opt", file, "--split-input-file", "-o", os.devnull], capture_output=True,
                          text=True)
    if done.returncode not in (0, 1):
        return {}, [f"ad-opt ended with {done.returncode}"]
    refused = {int(line) for line in re.findall(r"all\.mlir:(\d+):\d+: error: .", done.stderr)}
    supported = {key for key, span in spans.items() if not refused.intersection(span)}
    wrong = [f"no type supports ad.{name}" for name in operations() if not any((name, e) in supported for e in TYPES)]
    return supported, wrong + [f"{key} is supported" for key in supported if key[1] in TYPES[-3:]]


def run(folder, names, element):
    """Whether all of these run on both targets to the same bits; else what is wrong."""
    file = folder / f"{element}.mlir"
    file.write_text("\n".join(function(names, element)) + "\n")
    for target in ("reference", "cpu"):
        command = [BIN / "ad-runner", file, "--target", target, "--cache=off", "--out-dir", folder / element / target]
        scale = 2 if element == "i1" else 5
        command += ["--arg=x=arange", f"--arg=y=uniform:1:{scale}", f"--arg=v=uniform:2:{scale}", "--arg=c=uniform:3:2",
                    f"--arg=s=uniform:4:{scale}", "--arg=n=uniform:7:4", "--arg=r=normal:6",
                    f"--feed=f=uniform:5:{scale}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"{element} on {target} ended with {done.returncode}: {done.stderr.strip()[:400]}"
    for name in names:
        one, other = ((folder / element / target / f"{name}.npy").read_bytes() for target in ("reference", "cpu"))
        if one != other:
            return f"ad.{name} of {element} differs between the targets"
    return None


def problems_of_operations(_folder):
    pages = "".join(page.read_text() for page in (ROOT / "docs/spec").glob("*.md"))
    specified = set(re.findall(r"^## ad\.(\w+)", pages, re.M))
    tried = set(operations())
    yield from (f"ad.{name} of docs/spec is not tried" for name in sorted(specified - tried - set(ELSEWHERE)))
    yield from (f"ad.{name} is not specified in docs/spec" for name in sorted(tried - specified))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        supported, wrong = verify(folder)
        yield from wrong
        for element in TYPES[:-3]:
            problem = run(folder, [name for name in operations() if (name, element) in supported], element)
            if problem:
                yield problem


def problems_of_targets(_folder):
    command = [BIN / "ad-runner", ROOT / "examples/first.mlir", "--arg=x=zeros", "--target=cuda"]
    without = {**os.environ, "ADJOINT_LIBCUDA": "/nonexistent"}
    done = subprocess.run(command, capture_output=True, text=True, env=without)
    if done.returncode != 4 or "target 'cuda' is not available" not in done.stderr:
        yield f"target cuda: exit code {done.returncode}, {done.stderr.strip()}"


def lit_commands():
    files = [file for file in (ROOT / "test").rglob("*") if file.suffix in (".mlir", ".test")]
    return [line for file in files if is_lit_test(file) for line in file.read_text().splitlines() if "RUN:" in line]


def is_lit_test(file):
    """What test/lit.cfg.py leaves: of all files with these endings, those outside of such folders."""
    return not {"Inputs", "data"}.intersection(file.relative_to(ROOT).parts)


def problems_of_passes(_folder):
    listed = subprocess.run([BIN / "ad-opt", "--list-passes"], check=True, capture_output=True, text=True).stdout
    # The column of names may be too narrow for one, which is then followed by the dash before the summary.
    ours = re.findall(r"^ {2}--([a-z0-9-]*[a-z0-9])", listed.partition("All, with upstream's:")[0], re.M)
    commands = lit_commands()
    checked = " ".join(line for line in commands if "FileCheck" in line or "--verify-diagnostics" in line)
    if len(ours) < 20:
        yield f"ad-opt lists {len(ours)} passes"
    yield from (f"no lit test looks at what --{name} does" for name in ours
                if not re.search(rf"--{name}(?![\w-])", checked))


def problems_of_the_command(_folder):
    """What scripts/test.sh leaves out as a whole."""
    command = (ROOT / "scripts/test.sh").read_text()
    for part in ("scripts/setup.sh", "build all", "lint", "lit_suite", "unit_tests", "python_tests", "fuzz_campaigns"):
        if not re.search(rf"^(one )?{re.escape(part)}(?![\w(])", command, re.M):
            yield f"scripts/test.sh does not run {part}"
    if "scripts/test.sh" not in (ROOT / ".ci/run").read_text():
        yield ".ci/run does not call scripts/test.sh"


def named(name, text):
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)


def left_by_lit(file):
    return file.suffix in (".mlir", ".test") and not is_lit_test(file) and "RUN:" in file.read_text()


def left_campaign(file):
    campaigns = (ROOT / "scripts/test.sh").read_text().partition("fuzz_campaigns() {")[2].partition("\n}\n")[0]
    is_campaign = file.parent.name == "Fuzz" and file.is_file() and os.access(file, os.X_OK)
    return is_campaign and file.stem not in APART and not named(file.stem, campaigns)


def left_python(file, commands):
    """Programs of Python that are neither tests by their name nor called by one next to them or of lit; data sets have
    their own."""
    if file.suffix != ".py" or file.name.endswith("_test.py") or {"Fuzz", "data"}.intersection(file.parts):
        return False
    tests = "".join(test.read_text() for test in file.parent.glob("*_test.py"))
    return re.search(r"^def main\(|^def test_|__main__", file.read_text(),
                     re.M) and not named(file.name, commands + tests)


def left_programs(file, commands):
    """Executables of a CMakeLists.txt that neither their ending nor a test of lit has run, and sources in none of
    them."""
    text = re.sub("#.*", "", file.read_text())
    for name in re.findall(r"(?:add_executable|numerics_test)\(([\w-]+)", text):
        if not re.search("-(unit|scan|check|test)$", name) and not named(name, commands):
            yield name
    yield from (source.name for source in file.parent.glob("*Test.cpp") if not named(source.name, text))


def problems_of_tests(_folder):
    """Tests that scripts/test.sh does not find."""
    commands = "\n".join(lit_commands())
    for file in sorted((ROOT / "test").rglob("*")):
        if left_by_lit(file) or left_campaign(file) or left_python(file, commands):
            yield f"nothing runs {file.relative_to(ROOT)}"
    # Tests of Python run programs too. The embedded project is one that such a test builds.
    callers = "\n".join([commands, *(file.read_text() for file in (ROOT / "test").rglob("*_test.py"))])
    for file in (ROOT / "test").glob("*/CMakeLists.txt"):
        yield from (f"nothing runs {name} of {file.relative_to(ROOT)}" for name in left_programs(file, callers))
    for file in (ROOT / "python_bindings/tests").glob("*.py"):
        if re.search("^def test_", file.read_text(), re.M) and not file.name.startswith("test_"):
            yield f"pytest does not look at {file.relative_to(ROOT)}"


def main():
    parts = {"operations": problems_of_operations, "targets": problems_of_targets, "passes": problems_of_passes,
             "the command": problems_of_the_command, "tests": problems_of_tests}
    return checks.run_checks("project", parts.items())


if __name__ == "__main__":
    sys.exit(main())
