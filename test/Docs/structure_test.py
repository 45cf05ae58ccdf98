# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""scripts/structure.py counts functions and methods as a reader does, finds circles of includes between files and
between folders, and with --check names classes, functions and files that are too large.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "scripts")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import structure  # noqa: E402

SOURCE = """// A class in a comment: class Hidden { void no(); };
#define BRACE {
namespace adjoint {
template <typename T> class Grid : public Base<T> {
public:
  explicit Grid(int size) : size(size), text("{") {}
  ~Grid();
  Grid &operator=(const Grid &) = delete;
  int count() const { return size; }
  static std::vector<std::pair<int, int>>
  pairs(int first, int second = 0);
  virtual bool has(int index) const noexcept = 0;
  void each(std::function<void(int)> visit) {
    for (int i = 0; i < size; ++i) {
      auto call = [&](int at) { visit(at); };
      call(i);
    }
  }

private:
  using Pair = std::pair<int, int>;
  int size = 0, table[2] = {1, 2};
  struct Inner {
    int twice() { return 2; }
  };
};
template <> struct Trait<int> {
  int one();
};
template <> struct Trait<float> {
  int other();
};
enum class Kind { small, large };
static const int sizes[] = {1, 2, 3};
template <typename T>
int Grid<T>::pairs(int first,
                   int second) {
  if (first) {
    return 1;
  }
  return 2;
}
} // namespace adjoint
"""


def tree(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def check(folder):
    done = subprocess.run([sys.executable, ROOT / "scripts/structure.py", "--root", folder, "--check"],
                          capture_output=True, text=True)
    return done.returncode, done.stdout


def check_reader(_folder):
    reader = structure.Reader("Grid.cpp", SOURCE).read()
    expected = {"Grid": ["count", "pairs", "has", "each"], "Grid::Inner": ["twice"], "Trait<int>": ["one"],
                "Trait<float>": ["other"]}
    if reader.methods != expected:
        yield f"methods: expected {expected}, but got {reader.methods}"
    lengths = sorted(size for size, _ in reader.functions)
    if lengths != [1, 1, 1, 6, 8]:
        yield f"functions: expected the lengths of the constructor, count, twice, each and pairs, but got {reader.functions}"


def check_circles(folder):
    tree(folder, {"include/adjoint/A.h": '#include "adjoint/B.h"\n', "include/adjoint/B.h": '#include "adjoint/A.h"\n',
                  "lib/C.cpp": '#include "adjoint/A.h"\nint main() { return 0; }\n'})
    found = subprocess.run([sys.executable, ROOT / "scripts/structure.py", "--root", folder, "--check"],
                           capture_output=True, text=True)
    if found.returncode != 1 or "includes form a circle" not in found.stdout or "C.cpp" in found.stdout:
        yield f"a circle of two headers: {found.returncode} {found.stdout!r}"
    # The same circle with angle brackets, and through a file that is no header.
    for path, other in ("include/adjoint/B.h", "<adjoint/A.h>"), ("include/adjoint/B.def", '"A.h"'):
        tree(folder, {"include/adjoint/A.h": f"#include <{path[8:]}>\n", "include/adjoint/B.h": "", path:
                      f"# include {other}\n"})
        found = check(folder)
        if found != (1, f"includes form a circle: {folder.resolve()}/include/adjoint/A.h {folder.resolve()}/{path}\n"):
            yield f"a circle of {path}: {found}"


def check_folders(folder):
    tree(folder, {"include/adjoint/A/One.h": "int one();\n",
                  "lib/A/Two.cpp": '#include "adjoint/B/Three.h"\nint two();\n',
                  "include/adjoint/B/Three.h": '#include "adjoint/A/One.h"\nint three();\n',
                  "lib/C/Four.cpp": '#include "adjoint/A/One.h"\nint main() { return 0; }\n'})
    found = subprocess.run([sys.executable, ROOT / "scripts/structure.py", "--root", folder, "--check"],
                           capture_output=True, text=True)
    if found.returncode != 1 or found.stdout != "includes form a circle between folders: A B\n":
        return f"a circle of two folders: {found.returncode} {found.stdout!r}"


def check_limit(folder):
    methods = "".join(f"  void m{number}();\n" for number in range(structure.MAX_METHODS + 1))
    for head in ("class Large", "class alignas(64) Large", "struct __attribute__((aligned(sizeof(int)))) Large",
                 "class alignas(8) [[nodiscard]] Large final : public Base<int>", "template <class T> class Large"):
        tree(folder, {"lib/Large.cpp": f"{head} {{\n{methods}}};\nint main() {{ return 0; }}\n"})
        found = check(folder)
        if found != (1, "Large (lib/Large.cpp): 31 methods, expected at most 30\n"):
            yield f"31 methods of {head}: {found}"


def check_lengths(folder):
    limit, lines = structure.MAX_FUNCTION_LINES, structure.MAX_FILE_LINES
    for surplus, expected in (0, (0, "")), (1, (1, f"lib/Long.cpp:1: a function of {limit + 1} lines, expected at most "
                                                   f"{limit}\n")):
        tree(folder, {"lib/Long.cpp": "int main() {\n" + "  f();\n" * (limit - 2 + surplus) + "}\n"})
        if (found := check(folder)) != expected:
            yield f"a function of {limit + surplus} lines: {found}"
    for name in "Long.cpp", "Long.td":
        tree(folder, {"lib/Long.cpp": "int main() {}\n", f"lib/{name}": "int main() {}\n" + "int f();\n" * lines})
        if (found := check(folder)) != (1, f"lib/{name}: a file of {lines + 1} lines, expected at most {lines}\n"):
            yield f"a file {name} of {lines + 1} lines: {found}"


def check_summary(_folder):
    found = subprocess.run([sys.executable, ROOT / "scripts/structure.py"], capture_output=True, text=True,
                           check=True).stdout
    for name in ("files: ", "functions: ", "methods per class: ",
                 "circles of includes: 0 between files, 0 between folders"):
        if f"\n{name}" not in f"\n{found}":
            yield f"the tree: no line '{name}' in {found!r}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("structure", [("reader", check_reader), ("circles", check_circles),
                                             ("folders", check_folders), ("limit", check_limit),
                                             ("lengths", check_lengths),
                                             ("summary", check_summary)]))
