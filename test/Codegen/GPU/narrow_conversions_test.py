# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Conversions of f32 to 16- and 8-bit floats round to nearest even once, over all 2^32 values (a sample: each 32nd run
of 65536): with the instructions of GPUs, on the emulated one, on CPUs with and without such instructions, and in the
reference interpreter.

A kernel compares each conversion with integer arithmetic from the definition of the format, and counts the values that
differ. It also counts the values that rounding ties away from zero would give another code: these are the midpoints
above even codes, which NumPy finds from the table of codes, so that a kernel that counts nothing fails."""

import dataclasses
import functools
import random
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import numpy as np  # noqa: E402
import runner  # noqa: E402

BLOCKS = 1 << 16  # of 65536 values each, which share their upper halves
TIE = 1 << 17  # what a value counts that ties to even and away from zero round in different ways
WITHOUT_INSTRUCTIONS = ["--cpu", "x86-64"]


@dataclasses.dataclass(frozen=True)
class Format:
    element: str
    largest: int  # codes, without the sign
    overflow: int
    infinity: int  # codes above it are NaN

    @property
    def bits(self):
        return 8 * np.dtype(elements.STORAGE[self.element]).itemsize

    @property
    def finite(self):
        """The values of the codes from 0 to the largest, in f64."""
        return elements.decode(self.element, np.arange(self.largest + 1, dtype=f"u{self.bits // 8}")
                               .view(elements.STORAGE[self.element]))

    def midpoints(self):
        """Between adjacent codes, the first of which is the index."""
        return (self.finite[:-1] + self.finite[1:]) / 2


FORMATS = [Format("bf16", 0x7F7F, 0x7F80, 0x7F80), Format("f16", 0x7BFF, 0x7C00, 0x7C00),
           Format("f8E4M3FN", 0x7E, 0x7E, 0x7E), Format("f8E5M2", 0x7B, 0x7B, 0x7C)]


def body(form):
    """The scalar code of one value: %o is the count so far, %first the upper half of the value."""
    element, bits, mantissa = form.element, form.bits, elements.MANTISSA[form.element]
    smallest = elements.MIN_EXPONENT[element] + 127
    lines, names = [], {}

    def constant(number, kind="i32"):
        name = names.setdefault((number, kind), f"%c{len(names)}")
        return name

    def emit(name, operation, *operands, kind="i32"):
        lines.append(f"%{name} = arith.{operation} {', '.join(operands)} : {kind}")
        return f"%{name}"

    lines += ["%at = linalg.index 1 : index", "%low = arith.index_cast %at : index to i32"]
    emit("bits", "ori", "%first", "%low")
    lines += ["%x = arith.bitcast %bits : i32 to f32", f"%y = ad.convert %x : f32 to {element}",
              f"%raw = arith.bitcast %y : {element} to i{bits}", f"%found = arith.extui %raw : i{bits} to i32"]
    emit("magnitude", "andi", "%bits", constant(0x7FFFFFFF))
    emit("exponent", "shrui", "%magnitude", constant(23))
    emit("fraction", "andi", "%bits", constant(0x7FFFFF))
    emit("subnormal", "cmpi eq,", "%exponent", constant(0))
    emit("implicit", "ori", "%fraction", constant(1 << 23))
    lines.append("%digits = arith.select %subnormal, %fraction, %implicit : i32")
    emit("binade", "maxui", "%exponent", constant(1))
    # What is dropped of the digits: more below the smallest normal number, and nothing is left of 24 after 26.
    emit("below", "subi", constant(smallest + 23 - mantissa), "%binade")
    emit("more", "maxsi", "%below", constant(23 - mantissa))
    emit("drop", "minsi", "%more", constant(26))
    emit("kept", "shrui", "%digits", "%drop")
    emit("odd", "andi", "%kept", constant(1))
    emit("less", "subi", "%drop", constant(1))
    emit("half", "shli", constant(1), "%less")
    emit("above", "subi", "%binade", constant(smallest))
    emit("over", "maxsi", "%above", constant(0))
    emit("rebased", "shli", "%over", constant(mantissa))
    emit("shift", "subi", constant(32), constant(bits))
    emit("signs", "shrui", "%bits", "%shift")
    emit("sign", "andi", "%signs", constant(1 << (bits - 1)))
    emit("almost", "subi", "%half", constant(1))
    emit("even", "addi", "%almost", "%odd")
    for name, added in (("wanted", "%even"), ("away", "%half")):
        emit(f"{name}_sum", "addi", "%digits", added)
        emit(f"{name}_rounded", "shrui", f"%{name}_sum", "%drop")
        emit(f"{name}_code", "addi", f"%{name}_rounded", "%rebased")
        emit(f"{name}_large", "cmpi ugt,", f"%{name}_code", constant(form.largest))
        lines.append(f"%{name}_finite = arith.select %{name}_large, {constant(form.overflow)}, %{name}_code : i32")
        emit(name, "ori", f"%{name}_finite", "%sign")
    emit("nan", "cmpi ugt,", "%magnitude", constant(0x7F800000))
    emit("found_magnitude", "andi", "%found", constant((1 << (bits - 1)) - 1))
    emit("number", "cmpi ule,", "%found_magnitude", constant(form.infinity))
    emit("other", "cmpi ne,", "%found", "%wanted")
    lines += ["%bad = arith.select %nan, %number, %other : i1", "%bads = arith.extui %bad : i1 to i32"]
    emit("differs", "cmpi ne,", "%found", "%away")
    lines += [f"%tied = arith.select %nan, {constant(0, 'i1')}, %differs : i1", "%ties = arith.extui %tied : i1 to i32"]
    emit("weight", "muli", "%ties", constant(TIE))
    emit("counts", "addi", "%bads", "%weight")
    emit("sum", "addi", "%o", "%counts")
    head = [f"{name} = arith.constant {'false' if kind == 'i1' else f'{number} : {kind}'}"
            for (number, kind), name in names.items()]
    return head, [*lines, "linalg.yield %sum : i32"]


def program(form, count):
    """@main: the counts of `count` blocks whose upper halves are given."""
    rows, (constants, lines) = f"tensor<{count}xi32>", body(form)
    maps = ", ".join(f"affine_map<(d0, d1) -> ({dims})>" for dims in ("d0", "d1", "d0"))
    indent = lambda given: "".join(f"  {line}\n" for line in given)  # noqa: E731
    return (f"ad.kernel private @count(%blocks: {rows}) -> {rows} attributes {{kernel_class = \"generic\", "
            f"order = #ad.order<block = 512>}} {{\n{indent(constants)}  %lows = tensor.empty() : tensor<65536xi32>\n"
            f"  %e = tensor.empty() : {rows}\n  %z = arith.constant 0 : i32\n"
            f"  %f = linalg.fill ins(%z : i32) outs(%e : {rows}) -> {rows}\n"
            f"  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"reduction\"]}} "
            f"ins(%blocks, %lows : {rows}, tensor<65536xi32>) outs(%f : {rows}) {{\n"
            f"  ^bb0(%first: i32, %unused: i32, %o: i32):\n{indent(lines)}  }} -> {rows}\n  ad.yield %r : {rows}\n}}\n"
            f"func.func @main(%blocks: {rows} {{ad.name = \"blocks\"}}) -> ({rows} {{ad.name = \"counts\"}}) {{\n"
            f"  %r = ad.launch @count(%blocks) : ({rows}) -> {rows}\n  return %r : {rows}\n}}\n")


def expected(form):
    """Ties of each block, by the midpoints of the codes; both signs."""
    # Midpoints have one digit more than the format: they are f32 exactly.
    ties = form.midpoints()[::2].astype(np.float32).view(np.uint32) >> 16
    counts = np.bincount(ties, minlength=BLOCKS // 2)
    return TIE * np.concatenate([counts, counts]).astype(np.int64)


def check_all(form, options, blocks, folder):
    elements.save(folder / "blocks.npy", "i32", (blocks.astype(np.uint32) << 16).view(np.int32))
    found = runner.run(program(form, len(blocks)), [f"--arg=blocks={folder / 'blocks.npy'}"], [("counts", "i32")],
                       options)["counts"]
    wanted = expected(form)[blocks]
    for block in np.flatnonzero(found != wanted)[:3]:
        ties, wrong = divmod(int(found[block]), TIE)
        yield (f"values 0x{blocks[block]:04x}0000 to 0x{blocks[block]:04x}ffff: {wrong} are wrong, and {ties} are ties "
               f"that do not round away from zero, expected {wanted[block] // TIE}")


def check_widening(element, to, folder):
    """All codes, of which each is a value of the wider type."""
    storage = np.dtype(elements.STORAGE[element])
    codes = np.arange(1 << 8 * storage.itemsize, dtype=f"u{storage.itemsize}").view(storage)
    kind, wide = elements.tensor(element, codes.shape), elements.tensor(to, codes.shape)
    elements.save(folder / "x.npy", element, codes)
    text = (f'func.func @main(%x: {kind} {{ad.name = "x"}}) -> ({wide} {{ad.name = "y"}}) {{\n'
            f"  %y = ad.cast %x : {kind} -> {wide}\n  return %y : {wide}\n}}\n")
    found = runner.run(text, [f"--arg=x={folder / 'x.npy'}"], [("y", to)], ["--target=gpu-sim"])["y"]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        wrong = ~elements.same_bits(to, elements.encode(to, elements.decode(element, codes)), found)
    if wrong.any():
        yield f"code 0x{np.flatnonzero(wrong)[0]:x} has another value"


def check_doubles(form, folder):
    """An f64 next to a midpoint is one as an f32: a second rounding would go to the even code."""
    middle = form.midpoints()
    values = np.concatenate([np.nextafter(middle, 0), middle, np.nextafter(middle, np.inf)])
    low = np.arange(len(middle))
    codes = np.concatenate([low, low + low % 2, low + 1]).astype(f"u{form.bits // 8}")
    of, to = elements.tensor("f64", values.shape), elements.tensor(form.element, values.shape)
    elements.save(folder / "x.npy", "f64", values)
    text = (f'func.func @main(%x: {of} {{ad.name = "x"}}) -> ({to} {{ad.name = "y"}}) {{\n'
            f"  %y = ad.cast %x : {of} -> {to}\n  return %y : {to}\n}}\n")
    found = runner.run(text, [f"--arg=x={folder / 'x.npy'}"], [("y", form.element)], ["--target=gpu-sim"])["y"]
    wrong = np.flatnonzero(found.view(codes.dtype) != codes)
    if len(wrong):
        yield f"{values[wrong[0]].hex()}: expected code 0x{codes[wrong[0]]:x}, found 0x{found.view(codes.dtype)[wrong[0]]:x}"


def main():
    everything, rng = np.arange(BLOCKS), random.Random(checks.SAMPLE)
    many, part = np.array(checks.sample(everything, 32)), np.array(checks.sample(everything, 128))
    few = np.array(sorted(rng.sample(range(BLOCKS), 2)))
    gpu = ["--target=gpu-sim", "--no-race-detection"]
    ways = [("the emulated GPU", [*gpu, "--chip=sm_90a"], many),
            ("the emulated GPU for sm_80", [*gpu, "--chip=sm_80"], part),
            ("the emulated GPU on a CPU without instructions", [*gpu, *WITHOUT_INSTRUCTIONS], part),
            ("the CPU", ["--target=cpu"], part), ("a CPU without instructions", ["--target=cpu", *WITHOUT_INSTRUCTIONS], part),
            ("the reference interpreter", ["--target=reference"], few)]
    cases = [(f"{form.element} on {name}", functools.partial(check_all, form, options, blocks))
             for form in FORMATS for name, options, blocks in ways]
    cases += [(f"all of {form.element} to {to}", functools.partial(check_widening, form.element, to))
              for form in FORMATS for to in (["f32"] if form.bits == 16 else ["f32", "f16"])]
    cases += [(f"f64 to {form.element}", functools.partial(check_doubles, form)) for form in FORMATS]
    return checks.run_checks("narrow_conversions_test", cases)


if __name__ == "__main__":
    sys.exit(main())
