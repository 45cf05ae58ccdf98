/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Every symbol that compiled code may refer to. What is not here does not link: compiled programs allocate
   nothing themselves, and no elementary function of the C library can slip into a result. */
#ifndef ADJOINT_RUNTIME_HOST_SYMBOLS_H
#define ADJOINT_RUNTIME_HOST_SYMBOLS_H

#include "adjoint/Support/SymbolTable.h"

namespace adrt {

SymbolTable getSymbols();

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_SYMBOLS_H
