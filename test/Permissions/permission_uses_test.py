# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Permissions that lowerings and code generation ask for, outside of the labels of patterns. Every line of lib and
include that does so is listed with its tests; a new one fails the scan. All ask one gate, `allows` of Permissions.h;
a file that tests the bits itself fails, too. For each permission that a use needs:

- without it the use is not reported, and the bits are those of the reference interpreter, though all others are given;
- with what it needs alone, it is reported once or more, and the code is other code.

The decisions that choose between two forms with the same bits (`CHOICES`) have both forms compared."""

import functools
import itertools
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

ALL = ["reorder", "algebra", "contract", "widen", "mma", "narrow", "approx", "finite"]
# By file of lib and permission: how many lines ask for it, and the tests of this file.
LISTED = {
    ("Codegen/CPU/Contraction/DotProducts.cpp", "mma"): (1, ["dot-product-instruction"]),
    ("Codegen/GPU/Attention/AttentionClass.cpp", "mma"): (5, ["tensor-cores of attention",
                                                             "tensor-cores of few queries"]),
    ("Codegen/GPU/Attention/AttentionGradClass.cpp", "mma"): (3, ["tensor-cores of attention's gradient"]),
    ("Codegen/GPU/Contraction/ContractionEmitter.cpp", "mma"): (1, ["tensor-cores sm_80", "tensor-cores sm_90a"]),
    ("Codegen/GPU/Contraction/ContractionEmitter.cpp", "narrow"): (1, ["tf32 sm_80", "tf32 sm_90a"]),
    ("Codegen/GPU/Contraction/ContractionMatch.cpp", "contract"): (1, ["tf32 sm_80", "tf32 sm_90a"]),
    ("Codegen/GPU/Contraction/ContractionMatch.cpp", "mma"): (3, ["tensor-cores sm_80", "tensor-cores sm_90a"]),
    ("Codegen/GPU/Contraction/ContractionMatch.cpp", "narrow"): (1, ["tf32 sm_80", "tf32 sm_90a"]),
    ("Codegen/Kernel/GPUKernelClass.cpp", "mma"): (2, ["fixed instructions"]),
    ("Codegen/Kernel/Contractions.cpp", "mma"): (1, ["dot-product-instruction", "instructions of GPUs on CPUs"]),
    ("Conversion/ADToLinalg/InterfacePatterns.cpp", "approx"): (3, ["approximate-function cpu",
                                                                  "approximate-function gpu-sim"]),
    ("Conversion/ADToLinalg/Models/Contraction.cpp", "mma"): (5, ["dot-product-instruction", "tensor-cores sm_80",
                                                                 "instructions of GPUs on CPUs"]),
    ("Dialect/AD/IR/ADBuilders.cpp", "mma"): (2, ["kept instructions"]),
    ("Dialect/AD/IR/ADDialect.cpp", "mma"): (7, ["written instructions"]),
    ("Dialect/AD/Transforms/ChooseInstructions.cpp", "contract"): (1, ["fixed instructions"]),
    ("Dialect/AD/Transforms/ChooseInstructions.cpp", "mma"): (5, ["fixed instructions", "tensor-cores sm_80"]),
    ("Dialect/AD/Transforms/Fuse/Rules.cpp", "mma"): (1, ["fixed instructions"]),
    ("Dialect/AD/Transforms/InsertPrecisionFreeCasts.cpp", "mma"): (3, ["instructions of missing kernels"]),
    ("Dialect/AD/Transforms/NamedKernels/Contractions.cpp", "mma"): (3, ["tensor-cores bf16x6", "tensor-cores bf16x9"]),
    ("Dialect/AD/Transforms/NamedKernels/Contractions.cpp", "reorder"): (1, ["tensor-cores bf16x6",
                                                                              "tensor-cores bf16x9"]),
    ("Dialect/AD/Transforms/SplitK.cpp", "mma"): (2, ["parts of f16", "kept instructions"]),
    ("Dialect/AD/Transforms/SplitK.cpp", "narrow"): (1, ["parts of f32"]),
    ("Dialect/AD/Transforms/Verify/VerifyContracts.cpp", "mma"): (6, ["written instructions", "refused instructions"]),
    ("Dialect/AD/Transforms/WidenOperands.cpp", "mma"): (2, ["operands of dot products",
                                                              "instructions of GPUs on CPUs"]),
}
# Lines that give a pattern its label, which permission_labels_test.py tests, and the definition of the modes.
LABELS = re.compile(r"(NumericsPattern|AlgebraPattern)(<\w+>)?\(|patterns\.add<|"
                    r"^\s*Permissions::\w+ \| Permissions::\w+\);$|exact \? Permissions::none|this->permissions\(\)")
MODES = "Dialect/AD/IR/Attributes/ADAttributes.cpp"
# The only file that takes permissions apart.
GATE = "Dialect/AD/IR/Permissions.cpp"
# `a & b` of values, but no reference and no address: `T &x`, `f(&x)`, `[&]`. A comparison with a named permission.
TESTS_BITS = re.compile(r"bitEnum(Contains|Set|Clear)|[\w)\]] & [~*(\w]|[!=]= (ad::)?Permissions::(?!none)\w|"
                        r"Permissions::(?!none)\w+ [!=]=|"
                        r'allowsRewrite\([^;]*"(reorder|algebra|contract|widen|mma|narrow|approx|finite|none)"')
# Intersections, which ask for nothing: the permissions that several operations share.
SHARES = re.compile(r"\*?(common|permissions) & (own|numerics\.getPermissions\(\))")


#===- The scan -===#

def uses(path, text):
    """(file, permission) of each line that asks for a permission."""
    if path in (MODES, GATE):
        return
    for line in re.sub(r"//.*", "", text).splitlines():
        if LABELS.search(line):
            continue
        names = set(re.findall(r"Permissions::(\w+)", line)) & set(ALL)
        if re.search("kInstructionAttr|kLinalgAllowAttr", line) and "constexpr" not in line:
            names.add("mma")
        yield from ((path, name) for name in names)


def found_uses(files):
    counts = {}
    for path, text in files:
        for use in uses(path, text):
            counts[use] = counts.get(use, 0) + 1
    return counts


def sources():
    return [(str(file.relative_to(root)), file.read_text()) for root in (runner.ROOT / "lib", runner.ROOT / "include")
            for kind in ("*.cpp", "*.h") for file in sorted(root.rglob(kind))]


def differences(files):
    found = found_uses(files)
    for use in sorted(found.keys() | LISTED.keys()):
        expected = LISTED.get(use, (0, []))
        if found.get(use, 0) != expected[0]:
            yield (f"{use[0]} asks for {use[1]} on {found.get(use, 0)} lines, but {expected[0]} are listed in LISTED: a "
                   "new use needs a test there")
        yield from (f"{use[0]}: no test is named '{name}'" for name in expected[1] if name not in TESTS)


def tested_bits(files):
    """Lines that test the bits of permissions outside of the gate."""
    for path, text in files:
        if path == GATE or "Permissions" not in text:
            continue
        for number, line in enumerate(re.sub(r"//.*", "", text).splitlines(), 1):
            if TESTS_BITS.search(SHARES.sub("", line)):
                yield f"{path}:{number} tests bits of permissions: ask `allows` of Permissions.h: {line.strip()}"


def finds_tested_bits(_folder):
    """The scan sees every way to go past the gate."""
    for line in ("if (bitEnumContainsAll(given, needed))", "if ((own & needed) != needed)", "return needed & ~given;",
                 "if ((allow & Permissions::mma) != Permissions::none)", "bool b = allow == Permissions::approx;",
                 "bool b = Permissions::mma == allow;", 'if (allowsRewrite("tensor-cores", "mma", op))'):
        if not list(tested_bits([("Transforms/New.cpp", f"void f(Permissions allow) {{\n  {line}\n}}\n")])):
            yield f"is not found: {line}"


def finds_new_uses(_folder):
    """The scan sees a use in a file without any, and a second one in a file that has one."""
    new = [("Transforms/New.cpp", "if (allows(op, Permissions::reorder))")]
    if not [text for text in differences(sources() + new) if "New.cpp" in text]:
        yield "a new file is not found"
    line = "\nbool b = allows(op, Permissions::approx);"
    more = [(path, text + line * path.endswith("InterfacePatterns.cpp")) for path, text in sources()]
    if not [text for text in differences(more) if "InterfacePatterns.cpp" in text]:
        yield "a new line is not found"


#===- Uses that change bits -===#

class Use:
    """One use: a program with `ALLOW` in the place of its permissions, what it needs, and where it is compiled."""

    def __init__(self, name, needs, body, result, element, options, shape=(64, 64), pipeline=None):
        self.name, self.needs, self.options, self.element, self.shape = name, needs, options, element, shape
        x, result = f"tensor<{shape[0]}x{shape[1]}x{element}>", result.replace("E", element)
        self.text = (f'func.func @main(%x: {x} {{ad.name = "x"}}, %y: {x} {{ad.name = "y"}}) -> {result} {{\n'
                     f"  {body}\n  return %r : {result}\n}}\n").replace("T,", f"{x},").replace("T)", f"{x})")
        self.text = self.text.replace("RESULT", result)
        self.result = result.removesuffix(">").rsplit("x", 1)[1]
        self.pipeline = pipeline

    def program(self, permissions):
        return self.text.replace("ALLOW", f"allow = #ad.allow<{'|'.join(permissions) or 'none'}>")

    def code(self, permissions):
        """What the compiler makes of it, without the permissions themselves."""
        done = subprocess.run([runner.binary("ad-opt"), *self.pipeline], input=self.program(permissions),
                              capture_output=True, text=True, check=True)
        return re.sub(r",? ?allow = #ad\.allow<[^>]*>", "", done.stdout)

    def run(self, permissions, folder):
        rng, given = np.random.default_rng(3), []
        for name in "xy":
            values = elements.encode(self.element, rng.standard_normal(self.shape))
            elements.save(folder / f"{name}.npy", self.element, values)
            given.append(f"--arg={name}={folder / name}.npy")
        report = folder / "uses.json"
        found, reference = (runner.run(self.program(permissions), given, [("res0", self.result)], options)["res0"]
                            for options in ([*self.options, "--numerics-report", report], ["--target", "reference"]))
        reported = f'"{self.name.split()[0]}"' in report.read_text()
        return reported, bool(np.all(elements.same_bits(self.result, found, reference)))

    def used(self, permissions, folder):
        """Problems, where the use lacks a permission."""
        reported, equal = self.run(permissions, folder)
        if reported:
            yield f"was used with {'|'.join(permissions) or 'none'}"
        if not equal:
            yield f"other bits than the reference with {'|'.join(permissions) or 'none'}"

    def check(self, folder):
        for lacking in self.needs:
            rest = [permission for permission in self.needs if permission != lacking]
            yield from self.used(rest, folder)
            reported, _ = self.run([permission for permission in ALL if permission != lacking], folder)
            if reported:
                yield f"was used without {lacking}"
            if self.code(self.needs) == self.code(rest):
                yield f"the code is the same without {lacking}"
        # As if the use had no label: the check has to find it.
        if not list(self.used(self.needs, folder)):
            yield f"was not used with {'|'.join(self.needs)}"


def product(name, needs, element, result, options, pipeline):
    body = "%r = ad.dot %x, %y contract [1] x [1] {ALLOW, order = #ad.order<block = 512>} : (T, T) -> RESULT"
    return Use(name, needs, body, f"tensor<64x64x{result}>", element, options, pipeline=pipeline)


def parts_of_bf16(name, chip):
    """K has several blocks of the written order: tensor cores sum in another one."""
    body = (f'%r = ad.dot %x, %y contract [1] x [1] {{ALLOW, ad.named_kernel = "{name}", order = #ad.order<block = 512>}} '
            ": (T, T) -> RESULT")
    options, pipeline = gpu(chip)
    return Use(f"tensor-cores {name}", ["reorder", "mma"], body, "tensor<64x64xf32>", "f32", options, (64, 1100),
               pipeline)


def attention():
    body = ("%q = ad.reshape %x : T -> tensor<1x1x64x64xbf16>\n  %k = ad.reshape %y : T -> tensor<1x1x64x64xbf16>\n"
            "  %r, %l = ad.attention %q, %k, %k {ALLOW} : "
            + ", ".join(["tensor<1x1x64x64xbf16>"] * 3)).replace(" : T ->", " : tensor<64x64xbf16> ->")
    options, pipeline = gpu("sm_90a")
    return Use("tensor-cores of attention", ["mma"], body, "tensor<1x1x64x64xE>", "bf16", options, pipeline=pipeline)


def attention_of_few_queries():
    body = ("%s = ad.slice %x [0, 0] strides [1, 1] : T -> tensor<4x64xbf16>\n"
            "  %q = ad.reshape %s : tensor<4x64xbf16> -> tensor<1x1x4x64xbf16>\n"
            "  %k = ad.reshape %y : T -> tensor<1x1x1024x64xbf16>\n  %r, %l = ad.attention %q, %k, %k {ALLOW} : "
            "tensor<1x1x4x64xbf16>, tensor<1x1x1024x64xbf16>, tensor<1x1x1024x64xbf16>")
    options, pipeline = gpu("sm_90a")
    return Use("tensor-cores of few queries", ["mma"], body.replace(" : T ->", " : tensor<64x1024xbf16> ->"),
               "tensor<1x1x4x64xE>", "bf16", options, (64, 1024), pipeline)


def gpu(chip):
    return ["--target", "gpu-sim", "--chip", chip], [f"--ad-to-gpu=chip={chip}"]


def has_avx512_bf16():
    return "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()


class Dots(Use):
    """Only some CPUs have the instruction. Elsewhere the program is compiled for one, but cannot run."""

    def run(self, permissions, folder):
        if has_avx512_bf16():
            return super().run(permissions, folder)
        program, report = folder / "program.mlir", folder / "uses.json"
        program.write_text(self.program(permissions))
        subprocess.run([runner.binary("ad-runner"), program, "--cpu", "sapphirerapids", "--cache=off", "--emit",
                        folder / "program.adx", "--numerics-report", report], check=True, capture_output=True)
        return f'"{self.name}"' in report.read_text(), True


def dots():
    body = "%r = ad.dot %x, %y contract [1] x [1] {ALLOW, order = #ad.order<block = 512>} : (T, T) -> RESULT"
    return Dots("dot-product-instruction", ["mma"], body, "tensor<64x64xf32>", "bf16", ["--target", "cpu"],
                pipeline=["--ad-to-cpu=dot-products"])


#===- Choices between forms with the same bits -===#

def transformed(text, *passes):
    return subprocess.run([runner.binary("ad-opt"), *passes], input=text, capture_output=True, text=True,
                          check=True).stdout


def parts(element, permission, _folder):
    """Tensor cores need longer parts of K: fewer of them. The split itself needs reorder and contract."""
    x = f"tensor<4x8192x{element}>"
    counts = {}
    for allow in ("reorder|contract", f"reorder|contract|{permission}", permission, f"reorder|{permission}",
                  f"contract|{permission}"):
        text = (f"func.func @main(%x: {x}, %y: {x}) -> tensor<4x4x{element}> {{\n  %r = ad.dot %x, %y contract [1] x [1] "
                f"{{allow = #ad.allow<{allow}>, order = #ad.order<block = 512>}} : ({x}, {x}) -> tensor<4x4x{element}>\n"
                f"  return %r : tensor<4x4x{element}>\n}}\n")
        split = transformed(text, "--ad-split-k")
        sizes = [int(size) for size in re.findall(rf"-> tensor<4x(\d+)x\d+x{element}>", split)]
        counts[allow] = sizes[0] if sizes else 1
        if "contract" not in allow.split("|") or "reorder" not in allow.split("|"):
            if counts[allow] != 1:
                yield f"was split with {allow}"
    if not 1 < counts[f"reorder|contract|{permission}"] < counts["reorder|contract"]:
        yield f"expected fewer parts with {permission}: {counts}"


def dot_operands(_folder):
    """With `mma`, operands of bf16 stay for the instruction; without, they are widened, which keeps all bits."""
    x, y = "tensor<1024x64xbf16>", "tensor<1024x1024xbf16>"
    for permission, casts in (("none", True), ("reorder|contract|narrow|widen", True), ("mma", False)):
        text = (f"func.func @main(%x: {x}, %y: {x}) -> {y} {{\n  %r = ad.dot %x, %y contract [1] x [1] "
                f"{{allow = #ad.allow<{permission}>, order = #ad.order<block = 512>}} : ({x}, {x}) -> {y}\n"
                f"  return %r : {y}\n}}\n")
        for options, expected in (("=dot-products", casts), ("", True)):
            if ("ad.cast" in transformed(text, f"--ad-widen-operands{options}")) != expected:
                yield f"{permission}, {options or 'no option'}: {'no ' * expected}casts"


def fixed_instructions(_folder):
    """With `mma`, but without `contract`, the instruction of a product is fixed, and ad-fuse leaves a sum of columns
    out of its kernel; ad-emit-gpu refuses another kernel."""
    y = "tensor<64x64xf32>"
    for x, (permission, fixed) in itertools.product(
            ("tensor<64x64xbf16>", "tensor<64x64xf8E4M3FN>"),
            (("none", False), ("reorder|contract", False), ("contract|mma", False), ("mma", True))):
        allow = f"allow = #ad.allow<{permission}>, order = #ad.order<block = 512>"
        text = (f"func.func @main(%x: {x}) -> {y} {{\n  %a = ad.dot %x, %x {{{allow}}} : ({x}, {x}) -> {y}\n"
                f"  %b = ad.dot %x, %x contract [1] x [1] {{{allow}}} : ({x}, {x}) -> {y}\n"
                f"  %r = ad.add %a, %b {{allow = #ad.allow<{permission}>}} : {y}\n  return %r : {y}\n}}\n")
        chosen = transformed(text, "--ad-choose-instructions")
        if ("ad.instruction" in chosen) != fixed:
            yield f"{permission}: {'no ' * fixed}fixed instruction"
        if "bf16" in x and (transformed(chosen, "--ad-fuse").count("ad.fusion") == 1) == fixed:
            yield f"{permission}: the products are in {'one kernel' if fixed else 'several kernels'}"


def written_instructions(_folder):
    """A program may write the instruction of a product, but the attribute gives no permission."""
    shapes = {"bf16": "k = 16", "f8E5M2": "k = 32, promote = 64"}
    for target, (element, shape) in itertools.product(("cpu", "gpu"), shapes.items()):
        x = f"tensor<64x64x{element}>"
        text = (f"func.func @main(%x: {x}) -> {x} {{\n  %r = ad.dot %x, %x {{ad.instruction = #ad.instruction<m = 16, n = 8, "
                f"{shape}>}} : "
                f"({x}, {x}) -> {x}\n  return %r : {x}\n}}\n")
        for mode, refused in (("reproducible", True), ("strict", False), ("fast", False)):
            done = subprocess.run([runner.binary("ad-opt"), f"--ad-to-{target}=numerics={mode}"], input=text,
                                  capture_output=True, text=True)
            said = "has ad.instruction, but lacks the permission mma" in done.stderr
            if said != refused or (done.returncode != 0) != refused:
                yield f"{target}, {mode}: exit code {done.returncode}: {done.stderr[:200]}"


def instructions_on_cpus(_folder):
    """A CPU does not replace the written instruction by one of its own, with operands that are widened or not."""
    for rows, written in itertools.product((64, 1024), (True, False)):
        x, y = f"tensor<{rows}x64xbf16>", f"tensor<{rows}x{rows}xf32>"
        attribute = "ad.instruction = #ad.instruction<m = 16, n = 8, k = 16>, " * written
        text = (f"func.func @main(%x: {x}) -> {y} {{\n  %r = ad.dot %x, %x contract [1] x [1] {{{attribute}allow = "
                f"#ad.allow<mma>}} : ({x}, {x}) -> {y}\n  return %r : {y}\n}}\n")
        code = transformed(text, "--ad-to-cpu=dot-products")
        if ("dpbf16ps" in code) == written or "ad.instruction" in code:
            yield f"{rows} rows, {'written' if written else 'not written'}: {'the' if written else 'no'} instruction is used"


def refused_instructions(_folder):
    """A written instruction is refused where tensor cores cannot compute the product, whatever is permitted."""
    products = {
        "its operands are no floats": ("i8", "i32", ""),
        "tensor cores multiply its types only after rounding them": ("f32", "f32", ""),
        "the program writes the order of its sum": ("f16", "f32", ", order = #ad.order<block = 8>"),
        "it sums over lanes": ("f16", "f32", ", order = #ad.order<lanes = 4, chunk = 8>"),
    }
    for (reason, (element, result, order)), target in itertools.product(products.items(), ("cpu", "gpu")):
        x, r = f"tensor<64x64x{element}>", f"tensor<64x64x{result}>"
        text = (f"func.func @main(%x: {x}) -> {r} {{\n  %r = ad.dot %x, %x {{ad.instruction = #ad.instruction<m = 16, n = 8, "
                f"k = 16>{order}}} : ({x}, {x}) -> {r}\n  return %r : {r}\n}}\n")
        for mode in ("strict", "fast"):
            done = subprocess.run([runner.binary("ad-opt"), f"--ad-to-{target}=numerics={mode}"], input=text,
                                  capture_output=True, text=True)
            said = f"tensor cores cannot compute it: {reason}; remove ad.instruction" in done.stderr
            if not said or done.returncode == 0:
                yield f"{target}, {mode}, {element}{order}: exit code {done.returncode}: {done.stderr[:200]}"


def instructions_of_missing_kernels(folder):
    """A written instruction has no meaning where its operation computes in f32. The error has the types of the program
    and says what to do."""
    for element, target in itertools.product(("f16", "bf16"), ("cpu", "gpu-sim")):
        x = f"tensor<16x16x{element}>"
        program = folder / "program.mlir"
        program.write_text(f"func.func @main(%x: {x}) -> {x} {{\n  %r = ad.dot %x, %x {{ad.instruction = #ad.instruction<m = 16, "
                           f"n = 8, k = 16>}} : ({x}, {x}) -> {x}\n  return %r : {x}\n}}\n")
        command = [runner.binary("ad-runner"), program, "--cache=off", "--target", target, "--arg", "arg0=normal:1"]
        for missing, said in ((f"dot:{element}", True), (f"add:{element}", False)):
            done = subprocess.run([*command, "--missing-kernels", missing], capture_output=True, text=True)
            has = all(part in done.stderr for part in (
                f"for {element}, but computes in f32, since dot:{element} is one of the missing kernels",
                "remove ad.instruction or the name", f"or leave dot:{element} out", "program.mlir:2:8"))
            if has != said or (done.returncode == 1) != said:
                yield f"{target}, {missing}: exit code {done.returncode}: {done.stderr}"


def kept_instructions(_folder):
    """A rewrite of a product keeps its written instruction, and K of such a product is not split."""
    instruction = "#ad.instruction<m = 16, n = 8, k = 32, promote = 64>"
    x, y = "tensor<4096x64xf8E5M2>", "tensor<64x64xf32>"
    for written, passes in itertools.product((True, False), (["--ad-simplify"], ["--ad-split-k"])):
        attribute = f"ad.instruction = {instruction}, " * written
        text = (f"func.func @main(%x: {x}) -> {y} {{\n  %t = ad.transpose %x [1, 0] : {x}\n  %r = ad.dot %t, %x "
                f"{{{attribute}allow = #ad.allow<reorder|algebra|contract|widen|mma>}} : (tensor<64x4096xf8E5M2>, {x}) -> {y}\n  return %r : {y}\n}}\n")
        done = subprocess.run([runner.binary("ad-opt"), "--ad-set-numerics=numerics=fast", *passes], input=text,
                              capture_output=True, text=True, check=True)
        simplified, split = "ad.transpose" not in done.stdout, "ad.reduce_sum" in done.stdout
        wanted = (True, False) if passes == ["--ad-simplify"] else (False, not written)
        if (simplified, split) != wanted or (instruction in done.stdout) != written:
            yield f"{passes}, {'written' if written else 'not written'}: {done.stdout}"


#===- The list -===#

def attention_grad():
    kind, row = "tensor<1x1x64x64xbf16>", "tensor<1x1x64xf32>"
    body = (f"%q = ad.reshape %x : tensor<64x64xbf16> -> {kind}\n  %k = ad.reshape %y : tensor<64x64xbf16> -> {kind}\n"
            f"  %w = ad.slice %q [0, 0, 0, 0] strides [1, 1, 1, 1] : {kind} -> tensor<1x1x64x1xbf16>\n"
            f"  %n = ad.cast %w : tensor<1x1x64x1xbf16> -> tensor<1x1x64x1xf32>\n"
            f"  %l = ad.reshape %n : tensor<1x1x64x1xf32> -> {row}\n"
            "  %r, %s, %t = ad.attention_grad %q, %k, %k, %l, %l, %q {ALLOW} : "
            + ", ".join([kind] * 3 + [row] * 2 + [kind]))
    options, pipeline = gpu("sm_90a")
    return Use("tensor-cores of attention's gradient", ["mma"], body, "tensor<1x1x64x64xE>", "bf16", options,
               pipeline=pipeline)


APPROX = "%r = ad.tanh %x {ALLOW} : RESULT"
CPU = ["--ad-to-cpu"]
USES = [
    Use("approximate-function cpu", ["approx"], APPROX, "tensor<64x64xE>", "f32", ["--target", "cpu"], pipeline=CPU),
    Use("approximate-function gpu-sim", ["approx"], APPROX, "tensor<64x64xE>", "f32", ["--target", "gpu-sim"],
        pipeline=CPU),
    *(product(f"tensor-cores {chip}", ["mma"], "f16", "f32", *gpu(chip)) for chip in ("sm_80", "sm_90a")),
    *(product(f"tf32 {chip}", ["contract", "narrow"], "f32", "f32", *gpu(chip)) for chip in ("sm_80", "sm_90a")),
    attention(), attention_of_few_queries(), attention_grad(), parts_of_bf16("bf16x6", "sm_80"), parts_of_bf16("bf16x9", "sm_90a"),
    dots(),
]
CHOICES = {
    "parts of f16": functools.partial(parts, "f16", "mma"),
    "parts of f32": functools.partial(parts, "f32", "narrow"),
    "operands of dot products": dot_operands,
    "fixed instructions": fixed_instructions,
    "written instructions": written_instructions,
    "refused instructions": refused_instructions,
    "kept instructions": kept_instructions,
    "instructions of GPUs on CPUs": instructions_on_cpus,
    "instructions of missing kernels": instructions_of_missing_kernels,
}
TESTS = {**{use.name: use.check for use in USES}, **CHOICES}


def main():
    print(f"{sum(count for count, _ in LISTED.values())} lines of {len({path for path, _ in LISTED})} files ask for a "
          f"permission outside of labels; {sum(len(use.needs) for use in USES)} permissions of {len(USES)} uses are left "
          f"out one at a time, {len(CHOICES)} choices have both forms compared")
    return checks.run_checks("permission_uses", [
        ("all uses are listed", lambda folder: list(differences(sources()))), ("new uses are found", finds_new_uses),
        ("one gate tests bits", lambda folder: list(tested_bits(sources()))), ("tests of bits are found", finds_tested_bits),
        *((name, lambda folder, check=check: list(check(folder))) for name, check in checks.sample(TESTS.items(), 4))])


if __name__ == "__main__":
    sys.exit(main())
