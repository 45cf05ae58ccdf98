// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Precompiled for builds with planted faults, whose options differ from those of other builds.
#include "../../lib/PrecompiledHeaders.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
