/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Functions by name, to link compiled code against. */
#ifndef ADJOINT_SUPPORT_SYMBOLTABLE_H
#define ADJOINT_SUPPORT_SYMBOLTABLE_H

#include <cstddef>

namespace adrt {

struct Symbol {
  const char *name;
  void *address;
};

struct SymbolTable {
  const Symbol *first;
  size_t count;
  const Symbol *begin() const { return first; }
  const Symbol *end() const { return first + count; }
};

} // namespace adrt

#endif // ADJOINT_SUPPORT_SYMBOLTABLE_H
