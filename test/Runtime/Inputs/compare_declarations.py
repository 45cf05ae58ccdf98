# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""compare_declarations.py CudaDriver.h CUDA_FOLDER: whether our declarations of the CUDA driver agree with its header:
the number of parameters of each function, which of them are pointers, and the sizes of parameters and pointees; the
values of enumerators and the offsets of fields, whose names in the header are in comments after ours. Closes with
`declarations: N functions, N numbers and N fields compared`."""

import pathlib
import re
import subprocess
import sys

COMPARE = """
#include <cuda.h>
#include "HEADER"
#include <cstddef>
#include <type_traits>

template <class T> constexpr bool isOpaque = std::is_void_v<T> || std::is_function_v<T> || std::is_class_v<T>;
template <class A, class B> constexpr bool areAlike() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using Left = std::remove_cv_t<std::remove_pointer_t<A>>;
    using Right = std::remove_cv_t<std::remove_pointer_t<B>>;
    if constexpr (isOpaque<Left> || isOpaque<Right>)
      return true;
    else
      return areAlike<Left, Right>();
  } else {
    return std::is_pointer_v<A> == std::is_pointer_v<B> && sizeof(A) == sizeof(B);
  }
}
template <class Ours, class Theirs> struct Compare;
template <class R, class... A, class S, class... B> struct Compare<R (*)(A...), S(B...)> {
  static constexpr bool sameCount() { return sizeof...(A) == sizeof...(B); }
  static constexpr bool alike() {
    if constexpr (sameCount())
      return areAlike<R, S>() && (areAlike<A, B>() && ...);
    else
      return false;
  }
};
#define FUNCTION(name) static_assert(Compare<decltype(adrt::CudaDriver::name), decltype(::name)>::alike(), #name);
#define STRUCTURE(ours, theirs) static_assert(sizeof(adrt::ours) == sizeof(::theirs), #ours);
#define FIELD(structure, ours, theirStructure, theirs) \\
  static_assert(offsetof(adrt::structure, ours) == offsetof(::theirStructure, theirs), #structure "." #ours);
#define NUMBER(ours, theirs) static_assert(int(adrt::ours) == int(::theirs), #ours);
"""


def layouts(text):
    """Lines that compare structures, and those that compare fields. Of one that is but the begin of theirs the size may
    differ."""
    structures, fields = [], []
    for ours, part, theirs, body in re.findall(r"^struct (\w+) \{ // (begin of )?(CUDA_\w+)$(.*?)^\};", text,
                                               re.MULTILINE | re.DOTALL):
        if not part:
            structures.append(f"STRUCTURE({ours}, {theirs})\n")
        fields += [f"FIELD({ours}, {field}, {theirs}, {their})\n" for field,
                   their in re.findall(r"(\w+)(?:\[3\])?(?: = [^;]+)?;\s+// (\w+)$", body, re.MULTILINE)]
    return structures, fields


def main():
    header, folder = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    text = header.read_text()
    functions = re.findall(r"CudaResult \(\*(\w+)\)\(", text)
    numbers = re.findall(r"^\s+(\w+) = \d+,\s*// (CU_\w+)$", text, re.MULTILINE)
    unnamed = [line.strip() for line in re.findall(r"^\s+cuda\w+ = \d+.*$", text, re.MULTILINE) if "// CU_" not in line]
    source = COMPARE.replace("HEADER", str(header))
    source += "".join(f"FUNCTION({name})\n"
                      for name in functions) + "".join(f"NUMBER({ours}, {theirs})\n" for ours, theirs in numbers)
    structures, fields = layouts(text)
    source += "".join(structures + fields)
    command = ["clang++", "-std=c++17", "-fsyntax-only", "-x", "c++", f"-I{folder}/include", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    for problem in unnamed:
        print(f"WRONG: '{problem}' does not name the driver's number")
    print(done.stderr, end="")
    print(f"declarations: {len(functions)} functions, {len(numbers)} numbers and {len(fields)} fields compared")
    return bool(done.returncode or unnamed)


if __name__ == "__main__":
    sys.exit(main())
