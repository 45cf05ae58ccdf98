# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Changes of programs as text: sizes, types, names, locations in other files, nesting."""

import re

from file_changes import NESTINGS, NUMBERS, change_bytes, change_lines, change_match, change_word, nest, pick_range

SIZES = ["0", "1", "3", "65", "4097", "?", "2147483648", "1099511627776", "4611686018427387904", "9223372036854775807",
         "9223372036854775808", "-1"]
TYPES = [
    "f64", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f80", "i1", "i4", "i8", "i64", "i4294967295", "index", "complex<f32>",
    "vector<2xf32>", "vector<4611686018427387904xf32>", "tensor<2xf32>", "memref<2xf32>", "none", "tuple<>", "!ad.x"
]


def change_size(content, source, _):
    """One size everywhere, so that most types still agree."""
    sizes = re.findall(rb"[<x](\d+)x", content)
    if not sizes:
        return content
    old, new = source.choice(sizes), source.choice(SIZES).encode()
    return re.sub(rb"(?<=[<x])" + old + rb"(?=x)", new, content)


def change_type(content, source, _):
    new = source.choice(TYPES).encode()
    if source.random() < 0.5:
        return content.replace(b"f32", new)
    return change_match(content, source, rb"\b(f32|i32|i1|index|f64)\b", new)


def change_number(content, source, _):
    """A number that decides no number of turns: those are of type index."""
    lines = content.split(b"\n")
    fit = [number for number, line in enumerate(lines) if re.search(rb"\d", line) and b"index" not in line]
    if fit:
        number = source.choice(fit)
        lines[number] = change_match(lines[number], source, rb"-?\b\d[\d.e+-]*", source.choice(NUMBERS).encode())
    return b"\n".join(lines)


def quote(text):
    """A string of MLIR: escaped as its printer does."""
    return b'"' + b"".join(bytes([byte]) if 32 <= byte < 127 and byte not in b'"\\' else b"\\%02X" % byte
                           for byte in text) + b'"'


def change_string(content, source, plants):
    text = plants.text(source)
    return change_match(content, source, rb'"[^"\n]*"', quote(text) if source.random() < 0.8 else b'"' + text + b'"')


def change_symbol(content, source, plants):
    """The name of a function, everywhere."""
    names = re.findall(rb"@(\w+)", content)
    if not names:
        return content
    return re.sub(rb"@" + source.choice(names) + rb"\b", lambda _: b"@" + quote(plants.text(source)), content)


def make_location(source, plants):
    outside = plants.name(source, source.choice(["", ".mlir", "pipe"]))
    name = quote(plants.text(source) if source.random() < 0.2 else outside)
    line = source.choice([b"1", b"1", b"2", b"0", b"4294967295", b"99999999999"])
    place = name + b":" + line + b":" + source.choice([b"1", b"9", b"0", b"4294967295"])
    return source.choice([place, place, b"fused[" + place + b", unknown]", b'callsite("a" at ' + place + b")",
                          b'"n"(' + place + b")", b"fused<\"x\">[" + place + b"]", name])


def place_location(content, source, plants):
    """Operations that say that they come from other files."""
    lines = content.split(b"\n")
    operations = [number for number, line in enumerate(lines) if re.match(rb"\s*(%[\w, :%]+ = |return)", line) and
                  line[-1:] not in b"({," and b" loc(" not in line]
    for number in source.sample(operations, source.choice([min(1, len(operations)), len(operations)])):
        lines[number] += b" loc(" + make_location(source, plants) + b")"
    return b"\n".join(lines)


# What fails in the verifier, and at run time.
WRONG = [b'  %wrong = "ad.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>',
         b"  %wrong = ad.constant dense<0x7F800000> : tensor<f32>\n  check.expect_finite(%wrong) : tensor<f32>"]


def change_location(content, source, plants):
    """The same in a program that is wrong, so that there is a message with the location."""
    lines = content.split(b"\n")
    inside = [number for number, line in enumerate(lines) if line.startswith(b"  %")]
    if inside:
        lines.insert(source.choice(inside), source.choice(WRONG) + b" loc(" + make_location(source, plants) + b")")
    return place_location(b"\n".join(lines), source, plants) if source.random() < 0.3 else b"\n".join(lines)


def nest_code(content, source, _):
    """Types, attributes, regions or locations in each other, where an operation may be."""
    depth = source.choice(NESTINGS)
    opening, middle, closing = source.choice([
        (b"tuple<", b"f32", b">"), (b"[", b"1", b"]"), (b"{a = ", b"1", b"}"), (b"vector<2x", b"f32", b">"),
        (b"(", b"", b")"), (b"fused[", b"unknown", b"]"), (b"dense<[", b"1", b"]>"), (b"-", b"1", b""),
        (b"d0 + (", b"d0", b")"), (b'"x.y"() ({ ', b"", b" }) : () -> ()")])
    text = opening * depth + middle + closing * depth
    form = source.choice([b'"x.y"() {a = %s} : () -> ()', b"func.func private @deep(%s)", b"#deep = %s\n", b"%s",
                          b'"x.y"() : () -> () loc(%s)', b"#deep = affine_map<(d0) -> (%s)>"])
    lines = content.split(b"\n")
    lines.insert(source.randrange(len(lines)), form.replace(b"%s", text))
    return b"\n".join(lines)


def insert_resource(content, source, _):
    """An attribute whose bytes are at the end of the file."""
    size = source.choice([b"0x08000000" + b"00" * 32, b"0x00", b"0x", b"0x01000000" + b"F" * 200000, b"1", b'"x"'])
    shape = source.choice([b"8", b"0", b"4611686018427387904x4", b"?"])
    user = b'"x.y"() {a = dense_resource<blob> : tensor<%sxf32>} : () -> ()\n' % shape
    return user + content + b'\n{-#\n  dialect_resources: { builtin: { blob: "' + size + b'" } }\n#-}\n'


# Kernels are code, so that they are only read: LLVM computes for hours on a vector of any size.
KERNEL_CHANGES = [change_string, change_symbol, place_location, nest_code, nest, change_lines, change_word,
                  change_bytes]
CHANGES = [*KERNEL_CHANGES, change_size, change_type, change_number, change_location, change_location, change_word,
           insert_resource]


def change_program(content, source, plants, changes=CHANGES):
    for _ in range(source.choice([1, 1, 2])):
        content = source.choice(changes)(content, source, plants)
    return content


def change_bytecode(content, source, plants):
    """Bytes, and the strings, whose lengths stay."""
    if source.random() < 0.4:
        strings = re.findall(rb"[\w./-]{4,}(?=\0)", content)
        if strings:
            old = source.choice(strings)
            text = plants.text(source)[:len(old)].ljust(len(old), b"/")
            return content.replace(old, text, 1)
    if source.random() < 0.5:
        begin, _ = pick_range(content, source)
        return content[:begin] + bytes([content[begin - 1] ^ (1 << source.randrange(8))]) + content[begin + 1:]
    return change_bytes(content, source, plants)
