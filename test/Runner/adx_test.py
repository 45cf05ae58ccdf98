#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Files of ad-runner --emit as docs/adx.md describes them: files that are truncated, damaged, of another version or for
another machine are refused, and adrt-run runs in a folder that contains only it and the C library. Closes with `adx: N
run, N failed`."""

import hashlib
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", HERE.parents[1] / "build/release/bin"))
RUN = BIN / "adrt-run"
PROGRAM = HERE / "gpu-sim.mlir"
VALUES = ["--arg", "x=arange", "--dim", "x.0=3", "--arg", "p=zeros", "--feed", "f=arange", "--print"]
HEAD, DIGEST, ROW = 32, 32, 32
LARGEST = 2 << 20  # bytes of adrt-run without symbols


def emit(target, folder):
    path = folder / f"{target}.adx"
    subprocess.run([BIN / "ad-runner", PROGRAM, "--target", target, "--emit", path], check=True)
    return path


def run(content, folder):
    path = folder / "changed.adx"
    path.write_bytes(content)
    return subprocess.run([RUN, path, *VALUES], capture_output=True, text=True)


def refused(content, folder, code, text):
    """What is wrong unless adrt-run gives nothing but this error."""
    done = run(content, folder)
    if done.returncode == code and text in done.stderr and not done.stdout:
        return None
    return f"expected exit code {code} and '{text}', got {done.returncode}: {done.stdout[:200]}{done.stderr[:400]}"


def read(content):
    """The sections by name, as the documentation has them."""
    magic, version, _, size, count = struct.unpack_from("<8sIIQQ", content)
    assert magic == b"\x89ADX\r\n\x1a\n" and version == 2 and size == len(content)
    assert hashlib.sha256(content[:HEAD] + content[HEAD + DIGEST:]).digest() == content[HEAD:HEAD + DIGEST]
    sections = {}
    for index in range(count):
        name, offset, length = struct.unpack_from("<16sQQ", content, HEAD + DIGEST + index * ROW)
        sections[name.rstrip(b"\0").decode()] = content[offset:offset + length]
    return sections


def write(sections, version=2, abi=None, original=b""):
    """The file of sections, which a dictionary has by name, or a list in pairs."""
    sections = list(sections.items()) if isinstance(sections, dict) else sections
    abi = struct.unpack_from("<I", original, 12)[0] if abi is None else abi
    table, body, end = b"", b"", HEAD + DIGEST + len(sections) * ROW
    for name, data in sections:
        body += bytes(-end % 64) + data
        offset = end + -end % 64
        end = offset + len(data)
        table += struct.pack("<16sQQ", name.encode(), offset, len(data))
    head = struct.pack("<8sIIQQ", b"\x89ADX\r\n\x1a\n", version, abi, end, len(sections))
    return head + hashlib.sha256(head + table + body).digest() + table + body


def describe(content, change):
    """The file with another description, and a checksum that fits."""
    sections = read(content)
    description = json.loads(sections["description"])
    change(description)
    sections["description"] = json.dumps(description).encode()
    return write(sections, original=content)


def truncations(content, folder):
    lengths = {0, 1, 7, 8, 31, 32, 63, 64, 100, len(content) - 1, *random.Random(1).sample(range(len(content)), 40)}
    for length in sorted(lengths):
        yield f"{length} bytes", refused(content[:length], folder, 2, "the file is damaged" if length
                                         else "not a compiled")
    yield "one byte more", refused(content + b"\0", folder, 2, "the file is damaged")


def flips(content, folder):
    spread = random.Random(2).sample(range(8 * (HEAD + DIGEST), 8 * len(content)), 150)
    for bit in [*range(0, 8 * (HEAD + DIGEST), 3), *spread]:
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit}", refused(changed, folder, 2, "adrt-run: error: ")


def with_access(code, access):
    """The ELF file with segments that may be accessed so: 4 is reading, 2 writing, 1 executing."""
    changed = bytearray(code)
    table, (size, count) = struct.unpack_from("<Q", code, 32)[0], struct.unpack_from("<HH", code, 54)
    for position in range(table, table + size * count, size):
        struct.pack_into("<I", changed, position + 4, access)
    return bytes(changed)


def other_descriptions(content, folder):
    """Code is not called for another description than it was compiled for: it reads what it was compiled for."""
    more = {"name": "more", "type": "f32", "shape": []}
    changes = {
        "fewer arguments": lambda s: s["arguments"].pop(), "more arguments": lambda s: s["arguments"].append(more),
        "fewer results": lambda s: s["results"].pop(), "more results": lambda s: s["results"].append(more),
        "another type": lambda s: s["arguments"][-1].update(type="i8"),
        "another rank": lambda s: s["arguments"][-1]["shape"].append(1),
        "another name": lambda s: s["arguments"][-1].update(name="other"),
        "another feed": lambda s: s["feeds"].append(more),
    }
    for name, change in changes.items():
        changed = describe(content, lambda d, change=change: change(d["program"]["signature"]))
        yield name, refused(changed, folder, 2, "its code was compiled for another description")
    kernel = describe(content, lambda d: d["program"]["kernels"].append("more"))
    yield "more kernels", refused(kernel, folder, 2, "is malformed: it")
    same = run(describe(content, lambda d: d.update(producer="another one")), folder)
    yield "another producer", None if same.returncode == 0 else f"ended with {same.returncode}: {same.stderr}"


def forgeries(content, folder):
    """Files whose checksum holds."""
    sections = read(content)
    yield "the same again", None if write(sections, original=content) == content else "the documented layout is another"
    for version in (1, 3):
        yield f"version {version}", refused(write(sections, version=version, original=content), folder, 2,
                                            f"the file has version {version} of the format")
    yield "other runtime", refused(write(sections, abi=99), folder, 2, "the file needs version 99 of the runtime")
    feature = describe(content, lambda d: d["features"].append("flux-capacitor"))
    yield "CPU", refused(feature, folder, 4, "the code needs a CPU with flux-capacitor, which this machine lacks")
    machine = describe(content, lambda d: d.update(machine="vax"))
    yield "machine", refused(machine, folder, 4, "the code is for vax, this machine is")
    kernel = describe(content, lambda d: d["program"]["signature"].update(entry="other"))
    yield "no entry", refused(kernel, folder, 2, "the code is malformed: it has no adrt_entry_other")
    for name in sections:
        less = {other: data for other, data in sections.items() if other != name}
        yield f"no {name}", refused(write(less, original=content), folder, 2, f"it has no section '{name}'")
    pairs = list(sections.items())
    yield "section twice", refused(write([*pairs, pairs[-1]], original=content), folder, 2,
                                   "section 4 is 'weights', expected no further section")
    yield "sections in another order", refused(write(pairs[::-1], original=content), folder, 2,
                                               "section 0 is 'weights', expected 'description'")
    yield from other_descriptions(content, folder)
    donated = describe(content, lambda d: d["program"]["signature"]["arguments"][-1].update(donated=99))
    yield "donated to no result", refused(donated, folder, 2, "is donated to result 99 of ")
    negative = describe(content, lambda d: d["program"]["signature"]["results"][0].update(shape=[-5]))
    yield "negative size", refused(negative, folder, 2, "has a negative size")
    yield "no JSON", refused(write({**sections, "description": b"{"}, original=content), folder, 2, "is no JSON")
    nested = b"[" * 100000 + b"]" * 100000
    yield "nested JSON", refused(write({**sections, "description": nested}, original=content), folder, 2,
                                 "nested at most 256 deep")
    for access, reason in ((0, "cannot be read"), (3, "cannot be read"), (7, "can be both written and executed")):
        changed = write({**sections, "host": with_access(sections["host"], access)}, original=content)
        yield f"access {access}", refused(changed, folder, 2, f"the code is malformed: a segment {reason}")
    yield "no code", refused(write({**sections, "host": b""}, original=content), folder, 2, "the code is malformed")
    expected = run(content, folder).stdout
    for length in range(0, len(sections["host"]), len(sections["host"]) // 40):
        done = run(write({**sections, "host": sections["host"][:length]}, original=content), folder)
        # The table of sections at the end is for tools that look at the code, and not needed.
        good = done.returncode == 2 or done.stdout == expected
        yield f"{length} bytes of code", None if good else f"ended with {done.returncode}: {done.stderr[:300]}"


def libraries(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [word for line in listed.splitlines() for word in line.split() if word.startswith("/")]


def alone(folder):
    stripped = folder / "stripped"
    subprocess.run(["strip", "-o", stripped, RUN], check=True)
    yield "size", None if stripped.stat().st_size < LARGEST else f"{stripped.stat().st_size} bytes"
    names = {pathlib.Path(path).name.split(".")[0] for path in libraries(RUN)}
    yield "libraries", None if names <= {"libm", "libc", "ld-linux-x86-64", "ld-linux-aarch64"} else f"it needs {names}"


def in_chroot(root, arguments):
    """The command in `root`: as root as it is, else in a name space of its own."""
    command = ["chroot", root, "/adrt-run", *arguments]
    return command if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", *command]


def chroot(files, folder):
    """The same bytes as ad-runner's, where there is no LLVM."""
    root = folder / "root"
    root.mkdir()
    for path in libraries(RUN):
        copy = root / path.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    shutil.copy(RUN, root / "adrt-run")
    for path in files:
        shutil.copy(path, root)
        expected = subprocess.run([BIN / "ad-runner", PROGRAM, "--target", path.stem, *VALUES], capture_output=True,
                                  text=True)
        arguments = [path.name, "--target", path.stem, *VALUES]
        done = subprocess.run(in_chroot(root, arguments), capture_output=True, text=True)
        same = done.returncode == 0 and done.stdout == expected.stdout != ""
        yield f"chroot {path.stem}", None if same else f"ended with {done.returncode}: {done.stdout[:300]}{done.stderr[:300]}"


def whole_or_nothing(folder):
    """A file that does not fit on the disk leaves the old file; the objects that are linked fit, the weights do
    not."""
    path = folder / "kept.adx"
    path.write_bytes(b"before")
    command = [BIN / "ad-runner", PROGRAM, "--emit", path, "--arg", "x=zeros", "--dim", "x.0=1000000"]
    limited = subprocess.run(["bash", "-c", 'ulimit -f 1024; exec "$@"', "-", *command], capture_output=True, text=True)
    left = sorted(file.name for file in folder.glob(".kept*"))
    good = (limited.returncode == 2 and f"cannot write '{path}'" in limited.stderr and path.read_bytes() == b"before"
            and not left)
    yield "full disk", None if good else f"ended with {limited.returncode}: {limited.stderr[:300]} {left}"


def broken_linker(folder):
    broken = folder / "tools"
    broken.mkdir()
    (broken / "ld.lld-22").write_text("#!/bin/sh\necho no such luck >&2\nexit 1\n")
    (broken / "ld.lld-22").chmod(0o755)
    environment = {**os.environ, "PATH": f"{broken}:{os.environ['PATH']}"}
    done = subprocess.run([BIN / "ad-runner", PROGRAM, "--emit", folder / "none.adx"], env=environment,
                          capture_output=True,
                          text=True)
    good = done.returncode == 1 and "does not link: no such luck" in done.stderr and not (folder / "none.adx").exists()
    yield "linker", None if good else f"ended with {done.returncode}: {done.stderr[:300]}"


def privileged(folder):
    """A program with more rights than its caller loads no library that the caller names."""
    program, library = folder / "privileged", folder / "driver.so"
    folder.chmod(0o755)
    shutil.copy(RUN, program)
    shutil.copy(BIN.parent / "lib" / "libad-fake-cuda.so", library)
    program.chmod(0o4755)
    named = {**os.environ, "ADJOINT_LIBCUDA": str(library), "AD_FAKE_CUDA": ""}
    nobody = 65534
    for user, expected in ((0, True), (nobody, False)):
        done = subprocess.run(["setpriv", f"--reuid={user}", "--clear-groups", program, "--env"], capture_output=True,
                              text=True, env=named)
        loaded = "Fake GPU" in done.stdout
        wrong = done.returncode != 0 or loaded != expected
        yield f"privileges of user {user}", wrong and f"ended with {done.returncode}: {done.stdout[:300]}"


def cases(folder):
    files = [emit(target, folder) for target in ("cpu", "gpu-sim")]
    content = files[0].read_bytes()
    for group in (truncations, flips, forgeries):
        for name, wrong in group(content, folder):
            yield f"{group.__name__}: {name}", wrong
    # A build with sanitizers has them inside, and they want /proc.
    if b"__asan_init" not in RUN.read_bytes():
        yield from alone(folder)
        yield from chroot(files, folder)
        if os.geteuid() == 0:
            yield from privileged(folder)
    yield from whole_or_nothing(folder)
    yield from broken_linker(folder)


def main():
    return checks.run_cases("adx", cases)


if __name__ == "__main__":
    sys.exit(main())
