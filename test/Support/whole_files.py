# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Whether the files of a folder are whole: each is one that an undisturbed run has written, or that was there before.
Streams of received values may end earlier."""

import csv
import hashlib
import html.parser
import io
import json
import re
import struct
import xml.etree.ElementTree

import numpy as np

# What a process that was killed may leave: .NAME.1234abcd, NAME.1234ab, DIR.partial-XXXXXX.
TEMPORARY = re.compile(r"(^|/)\.[^/]+\.[0-9a-z]+$|\.partial-\w{6}(/|$)|\.(mlir|txt|dot)\.[0-9a-f]{6}$")
MANIFEST = "manifest.json"
ADX_HEAD, ADX_DIGEST = 32, 32


def is_temporary(name):
    return bool(TEMPORARY.search(name))


def contents(folder):
    """The bytes of all files by their path in the folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file()}


def without_times(value):
    """The same JSON, with 0 for each number that measures time."""
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_times(entry) for entry in value]
    return 0.0 if isinstance(value, float) else value


def read_npy(content):
    """The array, by NumPy; trailing bytes are those of a stream."""
    return np.load(io.BytesIO(content), allow_pickle=False)


def npy_data(content):
    """The bytes after the header."""
    length = struct.unpack_from("<H", content, 8)[0]
    return content[10 + length:]


def check_adx(content):
    digest = hashlib.sha256(content[:ADX_HEAD] + content[ADX_HEAD + ADX_DIGEST:]).digest()
    length = struct.unpack_from("<Q", content, 16)[0]
    assert content[ADX_HEAD:ADX_HEAD + ADX_DIGEST] == digest and length == len(content), "the checksum does not match"


def check_page(content):
    open_elements = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, _):
            open_elements.append(tag)

        def handle_endtag(self, tag):
            while open_elements and open_elements.pop() != tag:
                pass

    Reader().feed(content.decode())
    assert not open_elements and content.rstrip().endswith(b"</html>"), f"{open_elements} are open"


READERS = {
    ".npy": read_npy,
    ".json": json.loads,
    ".jsonl": lambda content: [json.loads(line) for line in content.decode().splitlines()],
    ".csv": lambda content: list(csv.reader(io.StringIO(content.decode()), strict=True)),
    ".svg": xml.etree.ElementTree.fromstring,
    ".html": check_page,
    ".adx": check_adx,
    ".mlir": bytes.decode,
    ".tsv": bytes.decode,
    ".txt": bytes.decode,
}


def unreadable(name, content):
    """Why a reader of the format does not take the content, if it does not."""
    reader = READERS.get("." + name.rpartition(".")[2])
    try:
        if reader:
            reader(content)
    except Exception as error:  # what a reader raises is not ours
        return f"{name} of {len(content)} bytes cannot be read: {error}"
    return None


def check_stream(name, content, whole):
    """Complaints about a stream, of which `whole` is the end."""
    expected = read_npy(whole)
    try:
        found = read_npy(content)
    except Exception as error:
        yield f"{name} cannot be read: {error}"
        return
    if found.shape[1:] != expected.shape[1:] or found.dtype != expected.dtype or len(found) > len(expected):
        yield f"{name} holds {found.shape} of {found.dtype}"
    elif not npy_data(whole).startswith(npy_data(content)):
        yield f"{name} has other values than those that were received"
    elif found.tobytes() != expected[:len(found)].tobytes():
        yield f"{name}: NumPy reads other values"


def count_whole(content):
    """How many values of a stream are complete."""
    found = read_npy(content)
    each = found.dtype.itemsize * int(np.prod(found.shape[1:]))
    return len(npy_data(content)) // each


def check_manifest(files, versions, varying=(), may_differ=False):
    """Complaints about a manifest and the files that it lists; the versions are manifests that are true, but for files
    that vary between runs. It may differ from all of them."""
    found = json.loads(files[MANIFEST])
    listed = {name: entry for name, entry in found["files"].items() if name not in varying}
    if found["state"] == "running":
        if found["files"]:
            yield f"the manifest of a run that goes on lists {sorted(found['files'])}"
    elif found["state"] != "whole":
        yield f"the manifest has state {found['state']}"
    elif not may_differ and listed not in [version["files"] for version in versions]:
        yield f"the manifest is whole, with files of no run: {found['files']}"
    for name, entry in found["files"].items():
        if name not in files or len(files[name]) != entry["bytes"]:
            yield f"the manifest is whole, and {name} has not {entry['bytes']} bytes"
    for name in found["earlier"]:
        if name not in files:
            yield f"the manifest names {name} as one of an earlier run, and it is not there"
