# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Whether two text forms are the same up to white space and a one-to-one renaming of the numbers of nodes.

    same_form.py RECORDED PRINTED

Numbers of nodes follow `id:` and `fuse_id:`, or precede ` = `; those of roots are counted, not named. The recorded
stream has no name; ours is called "x". Prints the renaming, or the first line that differs.
"""

import re
import sys

NODE = re.compile(r"(?<=id: )\d+|(?<![\w.])\d+(?= = )")


def lines_of(name):
    with open(name, encoding="utf-8") as file:
        return [line for line in (" ".join(line.split()) for line in file) if line]


def difference(recorded, printed):
    """The first difference, or None and the renaming."""
    renaming, taken = {}, {}
    for number, (old, new) in enumerate(zip(recorded, printed), 1):
        old = old.replace('Feeder ""', 'Feeder "x"')
        if NODE.sub("N", old) != NODE.sub("N", new):
            return f"line {number}:\n  recorded: {old}\n  printed:  {new}", renaming
        for a, b in zip(NODE.findall(old), NODE.findall(new)):
            if renaming.setdefault(a, b) != b or taken.setdefault(b, a) != a:
                return f"line {number}: node {b} stands for {taken[b]}, and {a} is called {renaming[a]}: {new}", renaming
    if len(recorded) != len(printed):
        return f"{len(recorded)} lines recorded, {len(printed)} printed", renaming
    return None, renaming


def main():
    found, renaming = difference(lines_of(sys.argv[1]), lines_of(sys.argv[2]))
    if found:
        sys.exit(f"the forms differ in {found}")
    print("same form; recorded numbers and ours: " + ", ".join(f"{a} {b}" for a, b in renaming.items()))


if __name__ == "__main__":
    main()
