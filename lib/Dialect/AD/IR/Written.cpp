// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operation that the user wrote is kept as metadata of a fused location. No pass compares locations, so
// CSE still joins equal operations, and every copy of an operation has the location too.

#include "adjoint/Dialect/AD/IR/Written.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr StringLiteral kOperation = "ad.operation", kOperand = "ad.operand";

static DictionaryAttr findWritten(Operation *op) {
  DictionaryAttr written;
  op->getLoc()->walk([&](Location part) {
    auto fused = dyn_cast<FusedLocWith<DictionaryAttr>>(part);
    if (!fused || !fused.getMetadata().getAs<StringAttr>(kOperation))
      return WalkResult::advance();
    written = fused.getMetadata();
    return WalkResult::interrupt();
  });
  return written;
}

static Location remember(Operation *op, StringRef name, std::optional<int64_t> operand) {
  Builder builder(op->getContext());
  SmallVector<NamedAttribute> written{builder.getNamedAttr(kOperation, builder.getStringAttr(name))};
  if (operand)
    written.push_back(builder.getNamedAttr(kOperand, builder.getI64IntegerAttr(*operand)));
  return FusedLoc::get({op->getLoc()}, builder.getDictionaryAttr(written), op->getContext());
}

Location ad::rememberWritten(Operation *op, std::optional<int64_t> operand) {
  return remember(op, writtenName(op), operand);
}

Location ad::rememberAs(Operation *op, StringRef written) { return remember(op, written, std::nullopt); }

StringRef ad::writtenName(Operation *op) {
  DictionaryAttr written = findWritten(op);
  return written ? written.getAs<StringAttr>(kOperation).getValue() : op->getName().getStringRef();
}

std::optional<int64_t> ad::writtenOperand(Operation *op) {
  DictionaryAttr written = findWritten(op);
  auto operand = written ? written.getAs<IntegerAttr>(kOperand) : IntegerAttr();
  return operand ? std::optional<int64_t>(operand.getInt()) : std::nullopt;
}
