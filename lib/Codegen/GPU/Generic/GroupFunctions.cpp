// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "GroupFunctions.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

// Elements whose intermediate values fit into registers beside those of the kernel.
static constexpr size_t kMaxGroup = 4;

namespace {
/// The groups of one block.
class FunctionGrouper {
public:
  explicit FunctionGrouper(Block &block) : block(block) {}
  void run();

private:
  using Group = SmallVector<ElementaryOp>;

  void add(ElementaryOp op);
  bool canPrecede(Group &group, Operation *input);
  bool join(Group &group, ElementaryOp op);
  bool collectInputs(Group &group, Operation *op, llvm::SetVector<Operation *> &inputs);
  void close();

  Block &block;
  SmallVector<Group> open;
};
} // namespace

static bool canMove(Operation *op) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  return (load && !load.getVolatile_()) || isMemoryEffectFree(op);
}

// Whether the input may be computed before the first of the group. Results of another group are where its
// first member is.
bool FunctionGrouper::canPrecede(Group &group, Operation *input) {
  auto *other = llvm::find_if(open, [&](Group &each) { return llvm::is_contained(each, input); });
  return other == open.end() || (other != &group && other->size() == 1) ||
         other->front()->isBeforeInBlock(group.front());
}

// The operations of the block after the first of the group that `op` needs; false if one of them has to stay
// there.
bool FunctionGrouper::collectInputs(Group &group, Operation *op, llvm::SetVector<Operation *> &inputs) {
  bool isFree = true;
  auto visit = [&](Value value) {
    Operation *input = value.getDefiningOp();
    if (!isFree || !input || input->getBlock() != &block || input->isBeforeInBlock(group.front()) ||
        inputs.contains(input))
      return;
    isFree = canPrecede(group, input) && collectInputs(group, input, inputs);
    inputs.insert(input);
  };
  llvm::for_each(op->getOperands(), visit);
  op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
  return isFree;
}

bool FunctionGrouper::join(Group &group, ElementaryOp op) {
  ElementaryOp first = group.front();
  llvm::SetVector<Operation *> inputs;
  if (group.size() == kMaxGroup || first.getFunction() != op.getFunction() ||
      first.getApproximate() != op.getApproximate() || !collectInputs(group, op, inputs))
    return false;
  for (Operation *input : inputs)
    input->moveBefore(first);
  group.push_back(op);
  return true;
}

void FunctionGrouper::add(ElementaryOp op) {
  if (op.getType().isF32() && llvm::none_of(open, [&](Group &group) { return join(group, op); }))
    open.push_back({op});
}

static void makeVector(ArrayRef<ElementaryOp> group) {
  ElementaryOp first = group.front();
  OpBuilder builder(first);
  Location loc = first.getLoc();
  auto type = VectorType::get(static_cast<int64_t>(group.size()), builder.getF32Type());
  auto position = [&](size_t number) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), static_cast<int32_t>(number));
  };
  SmallVector<Value> inputs;
  for (unsigned input = 0; input < first.getInputs().size(); ++input) {
    Value vector = LLVM::UndefOp::create(builder, loc, type);
    for (auto [number, op] : llvm::enumerate(group))
      vector = LLVM::InsertElementOp::create(builder, loc, vector, op->getOperand(input), position(number));
    inputs.push_back(vector);
  }
  Value results =
      ElementaryOp::create(builder, loc, type, first.getFunction(), first.getApproximate(), inputs);
  for (auto [number, op] : llvm::enumerate(group)) {
    Value result = LLVM::ExtractElementOp::create(builder, loc, results, position(number));
    op->getResult(0).replaceAllUsesWith(result);
  }
  for (ElementaryOp op : group)
    op.erase();
}

void FunctionGrouper::close() {
  for (const Group &group : open)
    if (group.size() > 1)
      makeVector(group);
  open.clear();
}

void FunctionGrouper::run() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto function = dyn_cast<ElementaryOp>(op))
      add(function);
    else if (!canMove(&op))
      close();
  }
  close();
}

void device::groupFunctions(::mlir::gpu::GPUFuncOp function) {
  SmallVector<Block *> blocks;
  function.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    FunctionGrouper(*block).run();
}
