// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the plan into the program: an `ad.buffer` for each buffer, the destinations of launches and feeds,
// and an `ad.copy` wherever a value has to change its buffer.

#include "Planner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
class PlanWriter {
public:
  PlanWriter(func::FuncOp function, Buffers &buffers) : builder(function.getContext()), buffers(buffers) {
    declare(function);
  }

  void write(LaunchOp launch);
  void write(FeedOp feed) { feed.getDestinationMutable().assign(bufferFor(feed.getResult())); }
  void write(arith::SelectOp select);
  void write(scf::ForOp loop, ArrayRef<int64_t> temporaries);
  void write(scf::WhileOp loop);
  void write(scf::IfOp branch);

private:
  /// Copies operands of the loop or terminator that are not in the buffers given for them, where these are
  /// not -1.
  void moveOperands(Operation *op, MutableArrayRef<OpOperand> operands, ArrayRef<int64_t> targets,
                    ArrayRef<int64_t> temporaries = {});
  void moveYielded(Block &block, ArrayRef<int64_t> targets, ArrayRef<int64_t> temporaries = {}) {
    Operation *yield = block.getTerminator();
    moveOperands(yield, yield->getOpOperands(), targets, temporaries);
  }
  SmallVector<int64_t> buffersOf(ValueRange values) const;
  void declare(func::FuncOp function);
  Value bufferFor(Value tensor) const { return declared[buffers.of(tensor)]; }
  void copyInto(Operation *op, OpOperand &operand, int64_t buffer);

  OpBuilder builder;
  Buffers &buffers;
  SmallVector<Value> declared; // by number of the buffer
};
} // namespace

void PlanWriter::declare(func::FuncOp function) {
  builder.setInsertionPointToStart(&function.getBody().front());
  for (const PlannedBuffer &buffer : buffers.getAll()) {
    auto allocation =
        BufferAttr::get(builder.getContext(), buffer.storage, buffer.number, buffer.offset, buffer.bytes);
    declared.push_back(BufferOp::create(builder, function.getLoc(), allocation));
  }
}

void PlanWriter::write(LaunchOp launch) {
  auto destinations = llvm::map_to_vector(launch.getResults(), [&](Value value) { return bufferFor(value); });
  launch.getDestinationsMutable().assign(destinations);
}

void PlanWriter::write(arith::SelectOp select) {
  builder.setInsertionPointAfter(select);
  auto copy = CopyOp::create(builder, select.getLoc(), select.getResult(), bufferFor(select.getResult()));
  select.getResult().replaceAllUsesExcept(copy.getResult(), copy);
}

SmallVector<int64_t> PlanWriter::buffersOf(ValueRange values) const {
  return llvm::map_to_vector(values, [&](Value value) { return buffers.of(value); });
}

void PlanWriter::copyInto(Operation *op, OpOperand &operand, int64_t buffer) {
  builder.setInsertionPoint(op);
  operand.set(CopyOp::create(builder, op->getLoc(), operand.get(), declared[buffer]));
}

void PlanWriter::moveOperands(Operation *op, MutableArrayRef<OpOperand> operands, ArrayRef<int64_t> targets,
                              ArrayRef<int64_t> temporaries) {
  SmallVector<bool> moves;
  for (auto [operand, target] : llvm::zip_equal(operands, targets))
    moves.push_back(target >= 0 && buffers.of(operand.get()) != target);
  for (auto [number, temporary] : llvm::enumerate(temporaries))
    if (temporary >= 0)
      copyInto(op, operands[number], temporary);
  for (auto [operand, target, isMoved] : llvm::zip_equal(operands, targets, moves))
    if (isMoved)
      copyInto(op, operand, target);
}

void PlanWriter::write(scf::ForOp loop, ArrayRef<int64_t> temporaries) {
  SmallVector<int64_t> carries = buffersOf(loop.getRegionIterArgs());
  moveOperands(loop, loop.getInitArgsMutable(), carries);
  moveYielded(*loop.getBody(), carries, temporaries);
}

void PlanWriter::write(scf::WhileOp loop) {
  SmallVector<int64_t> arguments = buffersOf(loop.getBeforeArguments());
  scf::ConditionOp condition = loop.getConditionOp();
  moveOperands(loop, loop.getInitsMutable(), arguments);
  moveOperands(condition, condition.getArgsMutable(), buffersOf(loop.getResults()));
  moveYielded(*loop.getAfterBody(), arguments);
}

void PlanWriter::write(scf::IfOp branch) {
  for (Region &region : branch->getRegions())
    if (!region.empty())
      moveYielded(region.front(), buffersOf(branch.getResults()));
}

void ad::writeMemoryPlan(func::FuncOp function, Buffers &buffers, const Temporaries &temporaries) {
  PlanWriter writer(function, buffers);
  // Selected tensors last, since their uses become uses of copies.
  SmallVector<arith::SelectOp> selects;
  function.walk([&](Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      writer.write(launch);
    else if (auto feed = dyn_cast<FeedOp>(op))
      writer.write(feed);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      writer.write(loop, temporaries.at(op));
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      writer.write(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      writer.write(branch);
    else if (auto select = dyn_cast<arith::SelectOp>(op); select && isTensor(select.getResult()))
      selects.push_back(select);
  });
  for (arith::SelectOp select : selects)
    writer.write(select);
}

void ad::eraseMemoryPlan(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      launch.getDestinationsMutable().clear();
    if (auto feed = dyn_cast<FeedOp>(op))
      feed.getDestinationMutable().clear();
    if (auto copy = dyn_cast<CopyOp>(op)) {
      copy.getResult().replaceAllUsesWith(copy.getSource());
      copy.erase();
    }
  });
  for (auto buffer : llvm::make_early_inc_range(function.getOps<BufferOp>()))
    buffer.erase();
}
