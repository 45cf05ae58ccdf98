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
  PlanWriter(func::FuncOp function, const DenseMap<Value, int64_t> &bufferOf)
      : builder(function.getContext()), bufferOf(bufferOf) {}

  void declare(func::FuncOp function, ArrayRef<PlannedBuffer> planned);
  void write(LaunchOp launch);
  void write(FeedOp feed) { feed.getDestinationMutable().assign(bufferFor(feed.getResult())); }
  void write(arith::SelectOp select);
  /// Copies operands of the loop or terminator that are not in the buffers given for them, where these are
  /// not -1.
  void moveOperands(Operation *op, MutableArrayRef<OpOperand> operands, ArrayRef<int64_t> targets,
                    ArrayRef<int64_t> temporaries = {});
  SmallVector<int64_t> buffersOf(ValueRange values) const;

private:
  Value bufferFor(Value tensor) const { return buffers[bufferOf.lookup(tensor)]; }
  void copyInto(Operation *op, OpOperand &operand, int64_t buffer);

  OpBuilder builder;
  const DenseMap<Value, int64_t> &bufferOf;
  SmallVector<Value> buffers;
};
} // namespace

void PlanWriter::declare(func::FuncOp function, ArrayRef<PlannedBuffer> planned) {
  builder.setInsertionPointToStart(&function.getBody().front());
  for (const PlannedBuffer &buffer : planned) {
    auto allocation =
        BufferAttr::get(builder.getContext(), buffer.storage, buffer.number, buffer.offset, buffer.bytes);
    buffers.push_back(BufferOp::create(builder, function.getLoc(), allocation));
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
  return llvm::map_to_vector(values, [&](Value value) { return bufferOf.lookup_or(value, -1); });
}

void PlanWriter::copyInto(Operation *op, OpOperand &operand, int64_t buffer) {
  builder.setInsertionPoint(op);
  operand.set(CopyOp::create(builder, op->getLoc(), operand.get(), buffers[buffer]));
}

void PlanWriter::moveOperands(Operation *op, MutableArrayRef<OpOperand> operands, ArrayRef<int64_t> targets,
                              ArrayRef<int64_t> temporaries) {
  SmallVector<bool> moves;
  for (auto [operand, target] : llvm::zip_equal(operands, targets))
    moves.push_back(target >= 0 && bufferOf.lookup_or(operand.get(), -1) != target);
  for (auto [number, temporary] : llvm::enumerate(temporaries))
    if (temporary >= 0)
      copyInto(op, operands[number], temporary);
  for (auto [operand, target, isMoved] : llvm::zip_equal(operands, targets, moves))
    if (isMoved)
      copyInto(op, operand, target);
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

static MutableArrayRef<OpOperand> operandsOf(Operation *terminator) { return terminator->getOpOperands(); }

void MemoryPlanner::write() {
  PlanWriter writer(function, bufferOf);
  writer.declare(function, buffers);
  // Selections last: their results change their names.
  SmallVector<arith::SelectOp> selects;
  function.walk([&](Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      writer.write(launch);
    } else if (auto feed = dyn_cast<FeedOp>(op)) {
      writer.write(feed);
    } else if (auto select = dyn_cast<arith::SelectOp>(op); select && isTensor(select.getResult())) {
      selects.push_back(select);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      SmallVector<int64_t> carries = writer.buffersOf(loop.getRegionIterArgs());
      Operation *yield = loop.getBody()->getTerminator();
      writer.moveOperands(loop, loop.getInitArgsMutable(), carries);
      writer.moveOperands(yield, operandsOf(yield), carries, swaps.at(loop.getOperation()));
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      SmallVector<int64_t> arguments = writer.buffersOf(loop.getBeforeArguments());
      writer.moveOperands(loop, loop.getInitsMutable(), arguments);
      writer.moveOperands(loop.getConditionOp(), loop.getConditionOp().getArgsMutable(),
                          writer.buffersOf(loop.getResults()));
      writer.moveOperands(loop.getYieldOp(), operandsOf(loop.getYieldOp()), arguments);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region &region : branch->getRegions())
        if (!region.empty())
          writer.moveOperands(region.front().getTerminator(), operandsOf(region.front().getTerminator()),
                              writer.buffersOf(branch.getResults()));
    }
  });
  for (arith::SelectOp select : selects)
    writer.write(select);
}
