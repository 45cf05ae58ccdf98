// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "../AxisModels.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

bool ad::repeatsOperand(Operation &op) { return isa<BroadcastOp, FullOp>(op); }

bool ad::isProductWithAxes(Operation &op) { return isa<DotOp>(op); }

void ad::renumberAxes(Operation &op, NewAxes axes, NewSizes sizes) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](DotOp dot) {
        dot.setLhsBatch(axes(dot.getLhs(), dot.getLhsBatch()));
        dot.setRhsBatch(axes(dot.getRhs(), dot.getRhsBatch()));
        dot.setLhsContract(axes(dot.getLhs(), dot.getLhsContract()));
        dot.setRhsContract(axes(dot.getRhs(), dot.getRhsContract()));
      })
      .Case<BroadcastOp, FullOp>([&](auto sized) {
        OpBuilder builder(sized);
        sized.getSizesMutable().assign(sizes(builder, sized.getResult(), sized.getSizes()));
      });
}
