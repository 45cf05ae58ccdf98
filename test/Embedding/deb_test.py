#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The Debian package: it asks for the packages that have the libraries which its files need, and what it installs works
from the folder that it is unpacked into. Closes with `deb: N run, N failed`."""

import glob
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options).stdout


def field(package, name):
    return [word.strip().split()[0] for word in run("dpkg-deb", "-f", package, name).split(",") if word.strip()]


def owners_of(paths):
    """The Debian packages that have these files, by any of their names: /lib is /usr/lib on merged systems."""
    found = set()
    for path in paths:
        real = os.path.realpath(path)
        for form in {path, real, re.sub("^/lib", "/usr/lib", path), re.sub("^/usr/lib", "/lib", real)}:
            done = subprocess.run(["dpkg", "-S", form], capture_output=True, text=True)
            found |= {line.split(":")[0] for line in done.stdout.splitlines()}
    return found


def needs_nothing_else(package, root):
    """The libraries that its files name are in the packages that it depends on, or in those that these depend on."""
    binaries = [*glob.glob(f"{root}/usr/bin/*"), *glob.glob(f"{root}/usr/lib/*.so.*.*"), *glob.glob(f"{root}/usr/lib/*Plugin.so")]
    if len(binaries) < 8:
        yield f"expected tools and libraries, found {binaries}"
    direct = set(field(package, "Depends"))
    known = set(direct)
    for name in direct:
        known |= set(re.findall(r"[\w.+-]+", run("dpkg-query", "-W", "-f", "${Depends}", name)))
    needed = set()
    for file in binaries:
        needed |= set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", file)))
    for name in sorted(needed):
        if name.startswith("libAdjoint"):
            continue
        paths = [path for folder in ("/usr/lib/llvm-22/lib", "/lib/x86_64-linux-gnu", "/lib64", "/usr/lib/x86_64-linux-gnu")
                 if os.path.exists(path := f"{folder}/{name}")]
        packages = owners_of(paths)
        if not packages & known:
            yield f"{name} is in {sorted(packages)}, which it does not depend on"


def works(root, folder):
    source = ROOT / "examples/first.mlir"
    if "ad." not in run(root / "usr/bin/ad-opt", source):
        yield "ad-opt: printed no program"
    plugin = root / "usr/lib/AdjointPlugin.so"
    code = run("mlir-opt-22", f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}",
               "--pass-pipeline=builtin.module(ad-to-cpu)", source)
    if "llvm.func" not in code:
        yield f"plug-in: {code[:500]}"
    flags = run("pkg-config", "--cflags", "--libs", "adjoint",
                env={**os.environ, "PKG_CONFIG_PATH": str(root / "usr/lib/pkgconfig")}).split()
    run("clang-22", ROOT / "examples/c/gradient.c", *flags, "-o", folder / "gradient")
    if not (said := run(folder / "gradient")).startswith("value 35.875, gradient 3 12 27 0.75\n"):
        yield f"C program: {said}"


def package(folder):
    run(ROOT / "scripts/build_deb.sh", cwd=ROOT)
    (built,) = glob.glob(str(ROOT / "dist/adjoint_*.deb"))
    root = folder / "root"
    run("dpkg-deb", "-x", built, root)
    if sorted(path.name for path in root.iterdir()) != ["usr"]:
        yield f"installs into {sorted(root.iterdir())}"
    yield from needs_nothing_else(built, root)
    yield from works(root, folder)


if __name__ == "__main__":
    sys.exit(checks.run_checks("deb", [("package", package)]))
