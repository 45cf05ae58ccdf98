// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the values that share the accumulator registers of wgmma. The operand and the result of a wgmma are
// in the same registers, and so are the operand of a branch and the block argument that receives it: ptxas
// copies none of them. Any other use of such a value reads the registers. If a branch passes another value to
// such a block argument, it writes the registers. A conditional branch counts as passing the values of both
// successors.
#include "Lowering.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::ad::emulator;

static constexpr StringLiteral kNumber = "adsim.accumulators";

namespace {

class AccumulatorFinder {
public:
  AccumulatorFinder(Lowering &l, LLVM::LLVMFuncOp function) : l(l), function(function) {}
  void run();

private:
  void follow(Value value, unsigned number);
  void merge(unsigned into, unsigned from);
  void checkReads(Block &block);
  void checkWrites(Block &block);
  void emitCheck(Operation *before, unsigned number, bool writes);

  Lowering &l;
  LLVM::LLVMFuncOp function;
  DenseMap<Value, unsigned> numbers;
};

// Calls visit(operand, block argument) for each value that the branch passes.
void forPassedValues(Operation *op, function_ref<void(Value, BlockArgument)> visit) {
  auto branch = dyn_cast<BranchOpInterface>(op);
  for (unsigned i = 0; branch && i < op->getNumSuccessors(); ++i) {
    SuccessorOperands passed = branch.getSuccessorOperands(i);
    for (unsigned j = passed.getProducedOperandCount(); j < passed.size(); ++j)
      visit(passed[j], op->getSuccessor(i)->getArgument(j));
  }
}

void AccumulatorFinder::merge(unsigned into, unsigned from) {
  for (auto &entry : numbers)
    if (entry.second == from)
      entry.second = into;
}

void AccumulatorFinder::follow(Value value, unsigned number) {
  SmallVector<Value> next{value};
  while (!next.empty()) {
    Value current = next.pop_back_val();
    auto [known, isNew] = numbers.try_emplace(current, number);
    if (!isNew) {
      merge(number, known->second);
      continue;
    }
    for (Operation *user : current.getUsers()) {
      if (auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(user); product && product.getInouts() == current)
        next.push_back(product.getResults());
      forPassedValues(user, [&](Value passed, BlockArgument argument) {
        if (passed == current)
          next.push_back(argument);
      });
    }
  }
}

void AccumulatorFinder::emitCheck(Operation *before, unsigned number, bool writes) {
  l.setOperation(before);
  l.callAt("adsim_accumulators", {}, {l.constant(number), l.constant(writes)});
}

// One check is enough for all reads up to the next instruction that may change its result.
void AccumulatorFinder::checkReads(Block &block) {
  llvm::SmallDenseSet<unsigned> checked;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto product = dyn_cast<NVVM::WgmmaMmaAsyncOp>(op);
    if (isa<NVVM::WgmmaFenceAlignedOp, NVVM::WgmmaWaitGroupSyncOp, LLVM::CallOp>(op) || product)
      checked.clear();
    for (OpOperand &operand : op.getOpOperands()) {
      auto known = numbers.find(operand.get());
      if (known == numbers.end() || (product && operand.get() == product.getInouts()))
        continue;
      bool isPassedOn = false;
      forPassedValues(&op, [&](Value passed, BlockArgument) { isPassedOn |= passed == operand.get(); });
      if (!isPassedOn && checked.insert(known->second).second)
        emitCheck(&op, known->second, /*writes=*/false);
    }
  }
}

void AccumulatorFinder::checkWrites(Block &block) {
  Operation *terminator = block.getTerminator();
  llvm::SmallDenseSet<unsigned> checked;
  forPassedValues(terminator, [&](Value passed, BlockArgument argument) {
    auto known = numbers.find(argument);
    if (known != numbers.end() && !numbers.count(passed) && checked.insert(known->second).second)
      emitCheck(terminator, known->second, /*writes=*/true);
  });
}

void AccumulatorFinder::run() {
  SmallVector<NVVM::WgmmaMmaAsyncOp> products;
  function.walk([&](NVVM::WgmmaMmaAsyncOp op) { products.push_back(op); });
  if (products.empty())
    return;
  for (auto [index, product] : llvm::enumerate(products))
    follow(product.getResults(), static_cast<unsigned>(index));
  for (NVVM::WgmmaMmaAsyncOp product : products)
    product->setAttr(kNumber, l.builder.getI64IntegerAttr(numbers[product.getResults()]));
  for (Block &block : function.getBody()) {
    checkReads(block);
    checkWrites(block);
  }
}

} // namespace

void mlir::ad::emulator::watchAccumulators(Lowering &l, LLVM::LLVMFuncOp function) {
  AccumulatorFinder(l, function).run();
}

int64_t mlir::ad::emulator::accumulatorsOf(NVVM::WgmmaMmaAsyncOp op) {
  return op->getAttrOfType<IntegerAttr>(kNumber).getInt();
}
