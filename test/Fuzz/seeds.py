# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Seeds of the parser's fuzzer: seeds.py FOLDER DICTIONARY FILE.mlir… writes each top-level operation of the files as a
program of its own, with the functions that it names, some programs of the generator, and the dictionary of their
words."""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import programs

LONGEST = 4096
GENERATED = 4 * len(programs.NAMES)


def top_level(text):
    """The operations of a file, without comments and directives of the tests."""
    text = re.sub(r"^\s*//.*\n", "", text, flags=re.MULTILINE)
    return [part.strip() for part in re.split(r"^(?=\S)(?!})", text, flags=re.MULTILINE) if part.strip()]


def with_callees(part, named):
    parts, names = [part], re.findall(r"@(\w+)", part)
    for name in names:
        if name in named and named[name] not in parts:
            parts.append(named[name])
            names += re.findall(r"@(\w+)", named[name])
    return "\n".join(parts)


def seeds_of(text):
    for case in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
        parts = top_level(case)
        aliases = "\n".join(part for part in parts if part[0] in "#!")
        named = {m[1]: part for part in parts if (m := re.match(r"func\.func (?:\w+ )?@(\w+)", part))}
        for part in parts:
            if part[0] not in "#!":
                yield aliases + "\n" + with_callees(part, named)


def dictionary(seeds):
    """Words that occur in several seeds."""
    pattern = r"[a-zA-Z_]\w*(?:\.\w+)+|#ad<\w+|\b[a-zA-Z]\w{2,}\b"
    counts = collections.Counter(word for seed in seeds for word in set(re.findall(pattern, seed)))
    return "".join(f'"{word}"\n' for word, count in sorted(counts.items()) if count >= 3 and len(word) <= 40)


def main():
    folder, words, files = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    seeds = {seed for file in files for seed in seeds_of(pathlib.Path(file).read_text())}
    seeds |= {programs.single_program(0, number).function("main", prefix=None) for number in range(GENERATED)}
    seeds = sorted(seed for seed in seeds if len(seed) <= LONGEST)
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f"{number}.mlir").write_text(seed + "\n")
    words.write_text(dictionary(seeds))


if __name__ == "__main__":
    main()
