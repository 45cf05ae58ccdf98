// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "WindowLists.h"

using namespace mlir;
using namespace mlir::ad;

LogicalResult ad::verifyNumbers(StringRef name, ArrayRef<int64_t> list, int64_t rank, StringRef axis,
                                int64_t least, EmitError error) {
  if (!list.empty() && int64_t(list.size()) != rank)
    return error() << "expected " << rank << " numbers of " << name << ", one for each " << axis
                   << ", or none, but got " << list.size();
  for (int64_t number : list)
    if (number < least || number > std::numeric_limits<int32_t>::max())
      return error() << "expected numbers of " << name << " from " << least << " to 2147483647, but got "
                     << number;
  return success();
}
