# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The faults that a build contains, and samples of them."""

import collections
import dataclasses
import os
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Fault:
    id: str  # FILE:LINE:COLUMN:KIND:ORDINAL
    what: str

    @property
    def file(self):
        return self.id.split(":")[0]

    @property
    def folder(self):
        return os.path.dirname(self.file)

    @property
    def position(self):
        return ":".join(self.id.split(":")[:3])

    @property
    def kind(self):
        return self.id.split(":")[3]

    def source(self):
        """The source line of the fault."""
        path, line = ROOT / self.file, int(self.id.split(":")[1])
        lines = path.read_text().splitlines() if path.exists() else []
        return lines[line - 1].strip() if line <= len(lines) else "(the line is gone since the build)"


def programs(build):
    return [path for path in sorted((build / "bin").iterdir()) if path.is_file() and os.access(path, os.X_OK)]


def faults_of(paths):
    """All faults of the programs, in the order of their names. A program without any would run instead of listing them."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        planted = [path for path in paths if b"adjoint_mutations_register" in path.read_bytes()]
        for number, path in enumerate(planted):
            listed = pathlib.Path(folder) / str(number)
            subprocess.run([str(path)], env={**os.environ, "ADJOINT_MUTATIONS_LIST": str(listed)}, check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            for line in listed.read_text().splitlines():
                name, _, what = line.partition("\t")
                found.setdefault(name, Fault(name, what))
    return [found[name] for name in sorted(found)]


def shares(sizes, count):
    """How many of `count` each folder gets: one, if there are as many, and the others in proportion to the sizes."""
    result = collections.Counter()
    for folder in sizes[:count]:
        result[folder[0]] = 1
    left = count - result.total()
    while left > 0:
        open_folders = [(name, size) for name, size in sizes if result[name] < size]
        if not open_folders:
            break
        # The next fault is taken from the folder with the largest number of faults per fault taken.
        name = max(open_folders, key=lambda item: item[1] / result[item[0]])[0]
        result[name] += 1
        left -= 1
    return result


def sample(faults, count, seed):
    """`count` of the faults, the same for the same seed: all folders and all kinds are met."""
    rng = random.Random(seed)
    folders = collections.defaultdict(lambda: collections.defaultdict(list))
    for fault in faults:
        folders[fault.folder][fault.kind].append(fault)
    order = sorted(folders)
    rng.shuffle(order)
    sizes = [(name, sum(map(len, folders[name].values()))) for name in order]
    used, chosen, sizes_of_kinds = collections.Counter(), [], collections.Counter(fault.kind for fault in faults)
    for name, share in shares(sizes, count).items():
        kinds = folders[name]
        for _ in range(share):
            # The next kind has the fewest draws divided by the square root of its size, so that rare kinds occur.
            kind = min((k for k in sorted(kinds) if kinds[k]),
                       key=lambda k: (used[k] / sizes_of_kinds[k] ** 0.5, rng.random()))
            chosen.append(kinds[kind].pop(rng.randrange(len(kinds[kind]))))
            used[kind] += 1
    return chosen
