#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Prints the sizes of files, functions and classes of C++, and circles of includes.

    structure.py [--root FOLDER] [--check] [--top N]

Counts lib, include and tools. A method is a member function that is no constructor, destructor or operator. With
--check it only prints complaints: a class of more than 30 methods, a function of more than 50 lines, a file of more
than 500, a circle of includes between files or between folders. The exit code is then 1 if there is a complaint. lib/X
and include/adjoint/X count as one folder.
"""

import argparse
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("lib", "include", "tools")
SUFFIXES = (".h", ".c", ".cpp", ".def", ".inc", ".td")
MAX_METHODS = 30
MAX_FUNCTION_LINES = 50
MAX_FILE_LINES = 500

COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
INCLUDE = re.compile(r'^\s*#?\s*include\s*["<]([^">]+)[">]', re.M)
PARENTHESES = re.compile(r"\([^()]*\)")
# What may be between `class` and the name: alignas, __attribute__ or [[…]], after PARENTHESES are taken away.
SPECIFIER = re.compile(r"\b(class|struct|union)\s+(?:alignas|__attribute__|__declspec|\[\[[^\]]*\]\])")
TEMPLATE = re.compile(r"\btemplate\s*<(?:[^<>]|<[^<>]*>)*>")
CLASS = re.compile(r"\b(?:class|struct|union)\s+([\w:]+(?:<[^<>]*>)?)[^()=]*$")
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
CONTROL = re.compile(r"\b(?:if|for|while|switch|catch|do|else|return)\b")


def without_comments(text):
    """The text with spaces in place of comments, strings and directives; lines keep their numbers."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    return PREPROCESSOR.sub(blank, COMMENTS.sub(blank, text))


def without_specifiers(header):
    """The text before the brace of a class without what is before `class`, and between it and the name."""
    plain = TEMPLATE.sub("", header)
    while SPECIFIER.search(plain):
        while (inner := PARENTHESES.sub("", plain)) != plain:
            plain = inner
        plain = SPECIFIER.sub(r"\1 ", plain)
    return plain


def is_function(header):
    """Whether the text before a brace is the declarator of a function: it has parameters, and is no initializer or
    lambda."""
    head = re.sub(r"<[^<>()]*>", "", header)
    if "(" not in head or CONTROL.match(head.strip()) or re.match(r"[^(]*(?<!operator)=(?!=)", head.split("(", 1)[0]):
        return False
    return re.search(r"\)\s*(?:const|override|final|noexcept|mutable|&|\s)*(?:->[^;{]*)?(?::[^:].*)?$", head,
                     re.S) is not None


def method_name(header):
    """The name of the member function that the text declares; None for constructors, operators and other text."""
    head = ACCESS.sub("", header).strip()
    while (plain := re.sub(r"<[^<>]*>", "", head)) != head:
        head = plain
    if re.match(r"(?:using|friend|typedef|static_assert|template\s*$)", head) or "operator" in head:
        return None
    found = re.match(r"([^()=]*?)(~?\w+)\s*\(", head)
    return found[2] if found and found[1].strip() and not found[2].startswith("~") else None


class Reader:
    """Walks over one file and notes its functions and the methods of its classes."""

    def __init__(self, path, text):
        self.path, self.text = path, without_comments(text)
        self.functions, self.methods, self.stack = [], {}, []

    def close(self, line):
        kind, name, start = self.stack.pop()
        if kind == "function":
            self.functions.append((line - start + 1, f"{self.path}:{start}"))

    def kind_of(self, header):
        if any(kind in ("function", "other") for kind, _, _ in self.stack):
            return "other", ""
        if re.search(r"\bnamespace\b|\bextern\s*$", header):
            return "namespace", ""
        header = without_specifiers(header)
        if found := CLASS.search(header):
            return ("other", "") if re.search(r"\benum\b", header) else ("class", found[1])
        return ("function", "") if is_function(header) else ("other", "")

    def note_method(self, header):
        if self.stack and self.stack[-1][0] == "class" and (name := method_name(header)):
            owner = "::".join(name for kind, name, _ in self.stack if kind == "class")
            if name != self.stack[-1][1].split("<")[0]:
                self.methods.setdefault(owner, []).append(name)

    def read(self):
        line, depth, begin, position = 1, 0, 0, 0
        for position, char in enumerate(self.text):
            line += char == "\n"
            depth += (char in "([") - (char in ")]")
            if char not in "{};" or (depth > 0 and char == ";"):
                continue
            header = self.text[begin:position]
            if char == "{":
                kind, name = self.kind_of(header) if depth == 0 else ("other", "")
                if kind == "function":
                    self.note_method(header)
                head = ACCESS.sub("", header).lstrip()
                self.stack.append((kind, name, line - head.count("\n")))
            elif char == ";":
                self.note_method(header)
            elif self.stack:
                self.close(line)
            if depth == 0:
                begin = position + 1
        return self


def sources(root):
    return sorted(file for folder in FOLDERS for file in (root / folder).rglob("*") if file.suffix
                  in SUFFIXES)


def summary(name, sizes):
    """Count, median, 99th percentile and the longest, of (lines, location)."""
    lines = sorted(size for size, _ in sizes)
    p99 = lines[min(len(lines) - 1, len(lines) * 99 // 100)]
    longest = max(sizes)
    return f"{name}: {len(lines)}, median {statistics.median(lines):g}, p99 {p99}, longest {longest[0]} {longest[1]}"


def include_graph(root, files):
    """The files of the project that each file includes."""
    graph = {}
    for file in files:
        near = [root / "include" / name if name.startswith("adjoint/") else (file.parent / name).resolve()
                for name in INCLUDE.findall(file.read_text())]
        graph[file] = [other for other in near if other.is_file()]
    return graph


def folder_graph(root, graph):
    """The include graph of folders, in which lib/X and include/adjoint/X are one."""
    def folder(file):
        return re.sub(r"^(include/adjoint|lib)/", "", str(file.parent.relative_to(root)))
    folders = {}
    for file, others in graph.items():
        folders.setdefault(folder(file), set()).update(folder(other) for other in others
                                                       if folder(other) != folder(file))
    return folders


def circles(graph):
    """The groups of nodes that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1 or node in graph.get(node, ()):
                found.append(sorted(map(str, group)))

    for node in graph:
        if node not in index:
            visit(node)
    return found


def measure(root):
    """(sizes of files, sizes of functions, methods by class, circles of files, circles of folders)"""
    files = sources(root)
    readers = [Reader(file.relative_to(root), file.read_text()).read() for file in files
               if file.suffix not in (".td", ".def", ".inc")]
    methods = {}
    for reader in readers:
        for owner, names in reader.methods.items():
            methods.setdefault(f"{owner} ({reader.path})", []).extend(names)
    graph = include_graph(root, files)
    sizes = [(file.read_text().count("\n"), str(file.relative_to(root))) for file in files]
    functions = [function for reader in readers for function in reader.functions]
    return sizes, functions, methods, circles(graph), circles(folder_graph(root, graph))


def complaints(sizes, functions, methods, file_circles, folder_circles):
    for kind, limit, found in ("file", MAX_FILE_LINES, sizes), ("function", MAX_FUNCTION_LINES, functions):
        yield from (f"{place}: a {kind} of {lines} lines, expected at most {limit}"
                    for lines, place in sorted(found, key=lambda one: one[1]) if lines > limit)
    for owner, names in sorted(methods.items()):
        if len(names) > MAX_METHODS:
            yield f"{owner}: {len(names)} methods, expected at most {MAX_METHODS}"
    for group in file_circles:
        yield f"includes form a circle: {' '.join(group)}"
    for group in folder_circles:
        yield f"includes form a circle between folders: {' '.join(group)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--check", action="store_true", help="print complaints only")
    parser.add_argument("--top", type=int, default=10, help="how many of the largest classes are listed")
    options = parser.parse_args()
    sizes, functions, methods, file_circles, folder_circles = measure(options.root.resolve())
    if options.check:
        found = list(complaints(sizes, functions, methods, file_circles, folder_circles))
        print("\n".join(found), end="\n" if found else "")
        return 1 if found else 0
    print(summary("files", sizes))
    print(summary("functions", functions))
    ordered = sorted(((len(names), owner) for owner, names in methods.items()), reverse=True)
    print(summary("methods per class", ordered))
    for count, owner in ordered[:options.top]:
        print(f"  {count} {owner}")
    print(f"circles of includes: {len(file_circles)} between files, {len(folder_circles)} between folders")
    for group in file_circles + folder_circles:
        print(f"  {' '.join(group)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
