// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a process does that has too little memory.
#ifndef ADJOINT_SUPPORT_OUTOFMEMORY_H
#define ADJOINT_SUPPORT_OUTOFMEMORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <new>

namespace mlir::ad::runner {

/// From now on, a lack of memory ends the process with an error of the tool and ExitNoTarget. Temporary files
/// are removed. LLVM's libraries have no exceptions, so that their objects cannot be used after one. Called
/// after llvm::InitLLVM, which has a handler of its own.
void endOnLackOfMemory(llvm::StringRef tool);

/// The error of code that cannot be loaded, for the `reasons` that LLVM's linker has given: ExitNoTarget for
/// a lack of memory, and else an internal error that begins with `message`.
llvm::Error loadError(llvm::StringRef message, llvm::StringRef reasons);

/// While it exists, operator new throws std::bad_alloc in spite of endOnLackOfMemory.
class CatchLackOfMemory {
public:
  CatchLackOfMemory() : handler(std::set_new_handler(nullptr)) {}
  ~CatchLackOfMemory() { std::set_new_handler(handler); }
  CatchLackOfMemory(const CatchLackOfMemory &) = delete;
  CatchLackOfMemory &operator=(const CatchLackOfMemory &) = delete;

private:
  std::new_handler handler;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_OUTOFMEMORY_H
