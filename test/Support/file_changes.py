# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Changes of files of any kind: of bytes, lines, words, strings and numbers. Each function takes the content, a source
of random numbers and the `Plants`, which not all need, and gives the changed content."""

import re

# What a name or a string may hold. A terminal obeys the escape sequences.
STRINGS = [
    b"", b"\x1b[2J\x1b]0;title\x07", b"a\0b", b"two\nlines", b"a\rb", b"\x7f", b"\xc2\x9b31m", b"\xff\xfe\xc0\xaf",
    "é∞\u202e\U0001f600".encode(), b"a" * 300, b"long " * 20000, b"%s%n{0}", b"\\", b'"', b"'", b" ", b"-", b".", b"..",
    b"/", b"=", b"a=b,c", b"\t", b"#", b"-9223372036854775808",
]
NUMBERS = [
    "0", "1", "-1", "2", "3", "65", "255", "257", "65536", "2147483647", "2147483648", "4294967295", "4294967296",
    "4611686018427387904", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211456", "0.5", "1e999", "-1e999",
    "1e-400", "NaN", "Infinity", "-Infinity", "nan", "-inf", "0x10", "00", "1_0", "9" * 5000,
]
NESTINGS = [40, 255, 257, 5000, 100000]


class Plants:
    """Names of files outside of the folder of a case. `folder` is the tree that a tool must not touch."""

    FILES = ["secret.npy", "secret.mlir", "secret.yaml", "secret.tsv", "secret.json", "pipe", "zero", "tree",
             "tree/run.json", "tree/inputs/x.npy", "absent.npy", "absent/new.npy"]

    def __init__(self, folder):
        self.folder = folder

    def name(self, source, ending=""):
        """A name of a file outside, of that ending if it is not empty."""
        file = source.choice([name for name in self.FILES if name.endswith(ending)] or self.FILES)
        up = "../" * source.choice([1, 2, 2, 3])
        return source.choice([f"{self.folder}/{file}", f"{up}decoy/{file}", f"./{up}decoy/{file}",
                              f"inputs/{up}../decoy/{file}", f"file://{self.folder}/{file}"]).encode()

    def text(self, source):
        """A name of a file outside, or another string that is no usual name."""
        return self.name(source) if source.random() < 0.5 else source.choice(STRINGS)


def pick_range(content, source):
    begin = source.randrange(len(content) + 1)
    return begin, min(len(content), begin + source.choice([1, 1, 2, 4, 8, 64, 1024]))


def change_bytes(content, source, plants):
    begin, end = pick_range(content, source)
    part = content[begin:end]
    kind = source.randrange(8)
    if kind == 0:
        part = bytes(byte ^ (1 << source.randrange(8)) for byte in part[:1]) + part[1:]
    elif kind == 1:
        part = b""
    elif kind == 2:
        return content[:begin]
    elif kind == 3:
        part = part * source.choice([2, 2, 3, 100])
    elif kind == 4:
        other, last = pick_range(content, source)
        part = content[other:last]
    elif kind == 5:
        part = source.randbytes(len(part))
    elif kind == 6:
        number = source.choice([0, 1, 127, 255, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, (1 << 64) - 1])
        part = number.to_bytes(8, "little")[:max(1, len(part))] + part[8:]
    else:
        part += plants.text(source)
    return content[:begin] + part + content[end:]


def change_match(content, source, pattern, replacement):
    """Replaces one of the matches of the pattern."""
    found = list(re.finditer(pattern, content))
    if not found:
        return content
    match = source.choice(found)
    return content[:match.start()] + replacement + content[match.end():]


def change_lines(content, source, _):
    lines = content.split(b"\n")
    at, other = source.randrange(len(lines)), source.randrange(len(lines))
    kind = source.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[other])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines[at] = lines[at] + b"\r"
    return b"\n".join(lines)


def change_word(content, source, _):
    words = re.findall(rb"[\w.%@-]+", content)
    return change_match(content, source, rb"[\w.%@-]+", source.choice(words)) if words else content


def nest(content, source, _, opening=(b"(", b"[", b"{", b"<", b'{"a":')):
    """Brackets in brackets, closed or not, in the place of some bytes."""
    begin, end = pick_range(content, source)
    bracket, depth = source.choice(opening), source.choice(NESTINGS)
    closing = {40: b")", 91: b"]", 123: b"}", 60: b">"}[bracket[0]]
    return content[:begin] + bracket * depth + b"1" + closing * (depth * source.randrange(2)) + content[end:]


def change_number(content, source, _):
    return change_match(content, source, rb"-?\b\d[\d.e+-]*", source.choice(NUMBERS).encode())


def change_name(content, source, plants):
    return change_match(content, source, rb"(?<=[\"'\t ])[\w./:%-]+", plants.text(source))


def change_text(content, source, plants):
    change = source.choice([change_lines, change_word, change_number, change_name, nest, change_bytes, change_bytes])
    return change(content, source, plants)
