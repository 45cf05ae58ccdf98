// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads and verifies the attributes of the memory plan.

#include "PlanReader.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

std::optional<PlanReader> PlanReader::read(func::FuncOp function) {
  std::optional<MemoryPlan> plan = MemoryPlan::read(function);
  if (!plan)
    return std::nullopt;
  PlanReader reader;
  reader.plan = std::move(*plan);
  return reader;
}

// One number per value; that of a tensor names a buffer.
bool PlanReader::hasBuffers(Operation *op, StringRef name, ValueRange values, bool optional) const {
  if (!llvm::any_of(values.getTypes(), llvm::IsaPred<RankedTensorType>) && !optional)
    return true;
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(name);
  if (!numbers || numbers.size() != static_cast<int64_t>(values.size()))
    return false;
  return llvm::all_of(llvm::zip_equal(numbers.asArrayRef(), values), [&](auto pair) {
    auto [number, value] = pair;
    return number < static_cast<int64_t>(plan.places.size()) &&
           (number >= 0 || optional || !isa<RankedTensorType>(value.getType()));
  });
}

LogicalResult PlanReader::verify(Operation *op) const {
  if (!isa<LaunchOp, FeedOp, arith::SelectOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return success();
  bool planned = hasBuffers(op, "ad.buffer", op->getResults());
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    planned &= hasBuffers(op, "ad.buffer_before", loop.getBeforeArguments());
  if (isa<scf::ForOp>(op))
    planned &= hasBuffers(op, "ad.swap", op->getResults(), /*optional=*/true);
  if (!planned)
    return op->emitOpError("has no buffer in the memory plan; ") << howToReach(Stage::planned);
  return success();
}

int64_t PlanReader::bufferOf(Operation *op, unsigned result) const {
  return op->getAttrOfType<DenseI64ArrayAttr>("ad.buffer")[result];
}

ArrayRef<int64_t> PlanReader::conditionBuffers(scf::WhileOp loop) const {
  auto buffers = loop->getAttrOfType<DenseI64ArrayAttr>("ad.buffer_before");
  return buffers ? buffers.asArrayRef() : ArrayRef<int64_t>();
}

ArrayRef<int64_t> PlanReader::swapBuffers(scf::ForOp loop) const {
  return loop->getAttrOfType<DenseI64ArrayAttr>("ad.swap").asArrayRef();
}

Operation *PlanReader::largestUser(func::FuncOp function,
                                   function_ref<bool(const PlannedPlace &)> matches) const {
  Operation *user = nullptr;
  int64_t largest = -1;
  function.walk([&](Operation *op) {
    auto buffers = op->getAttrOfType<DenseI64ArrayAttr>("ad.buffer");
    for (int64_t buffer : buffers ? buffers.asArrayRef() : ArrayRef<int64_t>())
      if (buffer >= 0 && matches(plan.places[buffer]) && plan.places[buffer].bytes > largest) {
        largest = plan.places[buffer].bytes;
        user = op;
      }
  });
  return user;
}
