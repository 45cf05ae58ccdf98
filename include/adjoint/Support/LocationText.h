// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Source locations as compiled programs name them at run time.

#ifndef ADJOINT_SUPPORT_LOCATIONTEXT_H
#define ADJOINT_SUPPORT_LOCATIONTEXT_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir::ad {

/// FILE:LINE:COLUMN if the location has one, else the text that MLIR prints.
std::string locationText(Location loc);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_LOCATIONTEXT_H
