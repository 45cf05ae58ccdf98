// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Files that passes write in addition to the program: reports, text forms, pictures.

#ifndef ADJOINT_SUPPORT_TEXTFILE_H
#define ADJOINT_SUPPORT_TEXTFILE_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// Writes `text` to `file`, whole or not at all; `-` is standard output.
llvm::Error writeText(StringRef file, StringRef text);

/// Writes the output of the callback to `file`, as writeText does. Fails with an error at `op` that names the
/// `option` of the pass.
LogicalResult writeTextFile(Operation *op, StringRef option, StringRef file,
                            function_ref<void(raw_ostream &)> print);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_TEXTFILE_H
