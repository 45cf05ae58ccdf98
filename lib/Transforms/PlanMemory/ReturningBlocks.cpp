// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ReturningBlocks.h"
#include "adjoint/Transforms/MemoryPlan.h"

#include <numeric>

using namespace mlir;
using namespace mlir::ad;

static bool isDonated(func::FuncOp function, int64_t result) {
  return llvm::any_of(llvm::seq<unsigned>(0, function.getNumArguments()),
                      [&](unsigned argument) { return donatedResult(function, argument) == result; });
}

// The number of the result of the function that a result of the branch is; -1 for none.
static int64_t resultOf(OpResult value, const ReturningBlock &end, func::FuncOp function) {
  int64_t first = -1;
  for (auto [operand, number] : llvm::zip_equal(end.block->getTerminator()->getOperands(), end.results)) {
    if (operand != value || number < 0)
      continue;
    if (isDonated(function, number))
      return number;
    first = first < 0 ? number : first;
  }
  return first;
}

SmallVector<ReturningBlock> ad::findReturningBlocks(func::FuncOp function) {
  SmallVector<int64_t> all(function.getNumResults());
  std::iota(all.begin(), all.end(), 0);
  SmallVector<ReturningBlock> blocks = {{&function.getBody().front(), all}};
  for (size_t i = 0; i < blocks.size(); ++i) {
    const ReturningBlock end = blocks[i];
    auto branch = dyn_cast_or_null<scf::IfOp>(end.block->getTerminator()->getPrevNode());
    if (!branch || branch.getElseRegion().empty())
      continue;
    auto results = llvm::map_to_vector(branch->getResults(),
                                       [&](OpResult result) { return resultOf(result, end, function); });
    for (Region &side : branch->getRegions())
      blocks.push_back({&side.front(), results});
  }
  return blocks;
}
