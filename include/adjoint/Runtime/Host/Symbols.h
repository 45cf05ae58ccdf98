/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   All symbols that compiled code may refer to. A program that refers to any other symbol does not link:
   compiled programs cannot allocate memory themselves, and their results cannot depend on elementary
   functions of the C library. */
#ifndef ADJOINT_RUNTIME_HOST_SYMBOLS_H
#define ADJOINT_RUNTIME_HOST_SYMBOLS_H

#include "adjoint/Support/SymbolTable.h"

namespace adrt {

SymbolTable getSymbols();

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_SYMBOLS_H
