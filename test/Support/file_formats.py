# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Changes of files that keep their form, so that what reads them goes beyond the first bytes: JSON, .npy, tables,
policies and .adx."""

import hashlib
import io
import json
import re
import struct
import zipfile

from file_changes import NESTINGS, NUMBERS, change_bytes, change_text, nest


class Fields(list):
    """An object of JSON as pairs, so that a key may occur twice."""


class Raw(bytes):
    """Text of a value, which may be no JSON."""


def write_json(value):
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, bytes):
        return b'"' + value.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
    if isinstance(value, Fields):
        return b"{" + b",\n".join(write_json(key) + b": " + write_json(item) for key, item in value) + b"}"
    if isinstance(value, list):
        return b"[" + b", ".join(map(write_json, value)) + b"]"
    return json.dumps(value).encode()


def places_in(value):
    """Every (container, index) of a value: where an item of a list is, or a pair of an object."""
    for index, item in enumerate(value if isinstance(value, list) else ()):
        yield value, index
        yield from places_in(item[1] if isinstance(value, Fields) else item)


OTHERS = [b"null", b"true", b"[]", b"{}", b'""', b'"x"', b"[[1]]", b'{"name": "x"}', b"", b"[null]"]


def make_value(old, source, plants):
    """Another value in the place of an old one."""
    kind = source.randrange(6)
    if isinstance(old, str) and kind < 3:
        text = plants.name(source, source.choice(["", old[-4:]])) if "." in old[-5:] else plants.text(source)
        # Escaped as JSON wants it, or as it is.
        return text if kind else Raw(json.dumps(text.decode("latin-1")).encode())
    if kind < 4:
        return Raw(source.choice(NUMBERS).encode())
    if kind == 4:
        depth = source.choice(NESTINGS)
        opening, closing = source.choice([(b"[", b"]"), (b'{"a":', b"}")])
        return Raw(opening * depth + b"1" + closing * depth)
    return Raw(source.choice(OTHERS))


def change_json(content, source, plants):
    if source.random() < 0.2:
        return source.choice([change_text, change_bytes])(content, source, plants)
    value = json.loads(content, object_pairs_hook=Fields)
    for _ in range(source.choice([1, 1, 2, 3])):
        container, index = source.choice(list(places_in(value)))
        kind = source.randrange(8)
        if kind == 0:
            del container[index]
        elif kind == 1:
            container.append(container[index])
        elif not isinstance(container, Fields):
            container[index] = make_value(container[index], source, plants)
        elif kind == 2:
            container[index] = (plants.text(source), container[index][1])
        elif kind == 3:
            container.append((container[index][0], make_value(container[index][1], source, plants)))
        else:
            container[index] = (container[index][0], make_value(container[index][1], source, plants))
        if not list(places_in(value)):
            break
    return write_json(value)


DESCRIPTIONS = ["'<f4'", "'<f8'", "'>f4'", "'|V1'", "'|V2'", "'|V3'", "'<i8'", "'|b1'", "'|O'", "'<U4'", "'<f16'", "''", "None",
                "[('a', '<f4')]", "'<f4'*9", "'" + "f" * 5000 + "'", "'\x1b[31m'", '"<f4"']
SIZES = ["8", "0", "1", "-1", "4611686018427387904", "9223372036854775807", "18446744073709551616", "8.0", "8L", "None",
         "(8,)", "2147483648", "00008", "1e3"]


def make_header(fields, source):
    """Text of the fields of a .npy header with other values, and with other fields."""
    for _ in range(source.choice([1, 1, 2])):
        kind = source.randrange(7)
        if kind < 2:
            fields["descr"] = source.choice(DESCRIPTIONS)
        elif kind < 4:
            sizes = [source.choice(SIZES) for _ in range(source.choice([0, 1, 1, 1, 2, 3, 64, 5000]))]
            fields["shape"] = "(" + "".join(size + ", " for size in sizes) + ")"
        elif kind == 4:
            fields["fortran_order"] = source.choice(["True", "False", "0", "'False'"])
        elif kind == 5:
            fields[source.choice(["more", "descr ", "", "shape\0", "\x1b[2J"])] = "1"
        else:
            del fields[source.choice(list(fields))]
    pairs = list(fields.items())
    if source.random() < 0.2:
        source.shuffle(pairs)
    if source.random() < 0.1:
        pairs += pairs[:1]
    text = "{" + ", ".join(f"'{key}': {value}" for key, value in pairs) + source.choice(["", ", "]) + "}"
    return text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"


def archive(content, source):
    """What numpy.savez writes, with the file or without any."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as members:
        if source.random() < 0.7:
            members.writestr("a.npy", content)
    return written.getvalue()


def change_npy(content, source, plants):
    if source.random() < 0.05:
        return archive(content, source)
    kind = source.randrange(4)
    if kind == 0:
        return change_bytes(content, source, plants)
    length = struct.unpack_from("<H", content, 8)[0]
    header, data = content[10:10 + length], content[10 + length:]
    if kind == 1:
        header = change_text(header, source, plants)
    else:
        fields = dict(re.findall(r"'(\w+)': (\([^)]*\)|[^,]+), ", header.decode()))
        header = make_header(fields, source)
    if source.random() < 0.2:
        data = source.choice([b"", data[:-1], data[:5], data * 3, data + b"x", source.randbytes(len(data))])
    size = len(header) if source.random() < 0.8 else source.choice([0, 1, len(header) - 1, 65535, 118])
    version = source.choice([1] * 12 + [2, 3, 0, 9])
    if version == 1:
        return b"\x93NUMPY\x01\0" + struct.pack("<H", min(size, 65535)) + header + data
    size = source.choice([size, size, size, (1 << 32) - 1, 1 << 31])
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<I", size) + header + data


def change_table(content, source, plants):
    """Cells, columns and rows of tab-separated values."""
    kind = source.randrange(8)
    if kind == 0:
        return change_text(content, source, plants)
    rows = [line.split(b"\t") for line in content.split(b"\n")[:-1]]
    at = source.randrange(len(rows))
    column = source.randrange(len(rows[0]))
    if kind == 1:
        rows = [row[:column] + row[column + 1:] for row in rows]
    elif kind == 2:
        rows = [[*row, row[min(column, len(row) - 1)]] for row in rows]
    elif kind == 3:
        rows[at] = rows[at][:column]
    elif kind == 4:
        rows[at:at] = [rows[at]] * source.choice([1, 1, 2, 1000])
    else:
        if column < len(rows[at]):
            cell = plants.name(source) if source.random() < 0.4 else plants.text(source)
            rows[at][column] = source.choice([cell, source.choice(NUMBERS).encode(), b"1x" * 40 + b"2", b"float32"])
    return b"".join(b"\t".join(row) + b"\n" for row in rows)


# What nests when it is repeated.
MARKS = [b"- ", b"? ", b": ", b"? - ", b"[", b"{", b"{a: ", b"!!a ", b"&a ", b"*a ", b"- \n", b"? \n", b"|\n"]
VALUES = [b"[add, ", b"{a: b}", b"!!binary aa==", b'"\\e[31m\\0\\x1b"', b"&a *a", b"|\n  add", b"---\n...",
          b"[" + b"add, " * 50000 + b"]", b"%YAML 9.9"]


def change_policy(content, source, plants):
    """Nesting and references of YAML besides changes of text."""
    kind = source.randrange(6)
    if kind == 0:
        depth = source.choice(NESTINGS)
        return content + source.choice([b"", b"more: ", b"always:\n"]) + source.choice(MARKS) * depth + b"x\n"
    if kind == 1:
        levels = b"".join(b"a%d: &a%d [%s]\n" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 30))
        return b"a0: &a0 [add]\n" + levels + content
    if kind == 2:
        value = source.choice([plants.text(source), source.choice(NUMBERS).encode(), *VALUES])
        return change_match_value(content, source, value)
    if kind == 3:
        return nest(content, source, plants, (b"[", b"{", b"{a: "))
    return change_text(content, source, plants)


def change_match_value(content, source, value):
    """Another value for one of the keys at the beginning of a line."""
    lines = content.split(b"\n")
    keys = [number for number, line in enumerate(lines) if line[:1].isalpha() and b":" in line]
    if keys:
        number = source.choice(keys)
        lines[number] = lines[number].split(b":")[0] + b": " + value
    return b"\n".join(lines)


# The layout of docs/adx.md.
HEAD, DIGEST, ROW = 32, 32, 32


def sections_of(content):
    for index in range(struct.unpack_from("<Q", content, 24)[0]):
        name, offset, length = struct.unpack_from("<16sQQ", content, HEAD + DIGEST + index * ROW)
        yield name, content[offset:offset + length]


def write_adx(head, sections):
    """A file of these sections, with a checksum that fits."""
    table, body, offset = b"", b"", HEAD + DIGEST + ROW * len(sections)
    for name, content in sections:
        body += bytes(-(offset + len(body)) % 64)
        table += struct.pack("<16sQQ", name, offset + len(body), len(content))
        body += content
    head = head[:16] + struct.pack("<QQ", offset + len(body), len(sections))
    return head + hashlib.sha256(head + table + body).digest() + table + body


def change_adx(content, source, plants):
    """Changes header, description, weights or table. The checksum is made to fit only where the code is as it was:
    docs/security.md promises nothing about other code."""
    kind = source.randrange(6)
    if kind == 0:
        return change_bytes(content, source, plants)
    sections = [[name, part] for name, part in sections_of(content)]
    described, stored = sections[0], sections[3]
    if kind in (1, 2):
        described[1] = change_json(described[1], source, plants)
    elif kind == 3:
        described[1] = change_bytes(described[1], source, plants)
    elif kind == 4:
        stored[1] = change_bytes(stored[1] or bytes(64), source, plants)
    else:
        order = source.choice([[0, 1, 2], [1, 0, 2, 3], [0, 1, 2, 3, 3], [0, 1, 2, 3, 0], [0, 2, 3], [], [0] * 100])
        sections = [sections[index] for index in order]
    return write_adx(content[:HEAD], sections)
