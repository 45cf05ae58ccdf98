// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "NarrowIndices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

// Elements of a tensor. A loop ends at most one step of the grid after them.
static constexpr int64_t kMaxElements = int64_t(1) << 30;

static bool isShort(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return !type.isIndex();
  int64_t elements = 1;
  return tensor.hasStaticShape() && llvm::all_of(tensor.getShape(), [&](int64_t size) {
           return !llvm::MulOverflow(elements, std::max<int64_t>(size, 1), elements) &&
                  elements <= kMaxElements;
         });
}

static bool isOfIndex(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<IndexType>) ||
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<IndexType>);
}

// Indices that scalar code computes wrap in 64 bits, and are tested in these.
static bool computesIndices(linalg::GenericOp generic) {
  return llvm::any_of(generic.getBlock()->getOperations(), [](Operation &op) {
    if (isa<linalg::IndexOp>(op))
      return !llvm::all_of(op.getUsers(), llvm::IsaPred<arith::IndexCastOp>);
    auto cast = dyn_cast<arith::IndexCastOp>(op);
    return isOfIndex(&op) && !(cast && isa_and_nonnull<linalg::IndexOp>(cast.getIn().getDefiningOp()));
  });
}

bool device::hasNarrowIndices(KernelOp kernel) {
  auto areShort = [](TypeRange types) { return llvm::all_of(types, isShort); };
  return areShort(kernel.getArgumentTypes()) && areShort(kernel.getResultTypes()) &&
         llvm::all_of(kernel.getBody().front().without_terminator(), [&](Operation &op) {
           auto generic = dyn_cast<linalg::GenericOp>(op);
           bool isConstant = isa<arith::ConstantOp>(op);
           return (isConstant || (areShort(op.getOperandTypes()) && areShort(op.getResultTypes()))) &&
                  !(generic && computesIndices(generic));
         });
}

namespace {
class IndexNarrower {
public:
  explicit IndexNarrower(::mlir::gpu::GPUFuncOp function)
      : function(function), word(IntegerType::get(function.getContext(), 32)) {}

  bool isPossible();
  void run();

private:
  void narrow(Operation *op);
  void narrowCast(arith::IndexCastOp cast);
  void setType(Value value) {
    if (value.getType().isIndex())
      value.setType(word);
  }

  ::mlir::gpu::GPUFuncOp function;
  Type word;
};
} // namespace

static bool isThreadNumber(Operation *op) {
  using namespace ::mlir::gpu;
  return isa<ThreadIdOp, BlockIdOp, BlockDimOp, GridDimOp>(op);
}

bool IndexNarrower::isPossible() {
  WalkResult result = function.walk([](Operation *op) -> WalkResult {
    if (!isOfIndex(op) || isThreadNumber(op) ||
        isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp, scf::ConditionOp, scf::YieldOp>(op))
      return WalkResult::advance();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto number = dyn_cast<IntegerAttr>(constant.getValue());
      return number && llvm::isInt<32>(number.getInt()) ? WalkResult::advance() : WalkResult::interrupt();
    }
    if (auto cast = dyn_cast<arith::IndexCastOp>(op))
      return cast.getType().isIntOrIndex() ? WalkResult::advance() : WalkResult::interrupt();
    bool isArithmetic =
        isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp,
            arith::MinUIOp, arith::MaxUIOp, arith::CmpIOp, arith::SelectOp, arith::AndIOp, arith::OrIOp,
            arith::XOrIOp, arith::ShLIOp, arith::ShRUIOp>(op);
    return isArithmetic ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

void IndexNarrower::narrowCast(arith::IndexCastOp cast) {
  OpBuilder builder(cast);
  Value number = cast.getIn();
  Type type = cast.getType().isIndex() ? word : cast.getType();
  unsigned from = number.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (to > from)
    number = arith::ExtSIOp::create(builder, cast.getLoc(), type, number);
  else if (to < from)
    number = arith::TruncIOp::create(builder, cast.getLoc(), type, number);
  cast.replaceAllUsesWith(number);
  cast.erase();
}

void IndexNarrower::narrow(Operation *op) {
  if (isThreadNumber(op)) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto cast = arith::IndexCastUIOp::create(builder, op->getLoc(), word, op->getResult(0));
    op->getResult(0).replaceAllUsesExcept(cast, cast);
    return;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()); number && number.getType().isIndex())
      constant.setValueAttr(IntegerAttr::get(word, number.getInt()));
  }
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(op)) { // takes no other type
    OpBuilder builder(op);
    Value number = choice.getArg();
    choice.getArgMutable().assign(
        arith::IndexCastUIOp::create(builder, op->getLoc(), builder.getIndexType(), number));
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArguments(), [&](BlockArgument argument) { setType(argument); });
  llvm::for_each(op->getResults(), [&](Value result) { setType(result); });
}

void IndexNarrower::run() {
  SmallVector<Operation *> ops;
  SmallVector<arith::IndexCastOp> casts;
  function.walk([&](Operation *op) {
    if (auto cast = dyn_cast<arith::IndexCastOp>(op))
      casts.push_back(cast);
    else if (op != function)
      ops.push_back(op);
  });
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments())
    if (argument.getType().isIndex()) {
      auto cast = arith::IndexCastUIOp::create(builder, function.getLoc(), word, argument);
      argument.replaceAllUsesExcept(cast, cast);
    }
  llvm::for_each(ops, [&](Operation *op) { narrow(op); });
  llvm::for_each(casts, [&](arith::IndexCastOp cast) { narrowCast(cast); });
}

void device::narrowIndices(::mlir::gpu::GPUFuncOp function) {
  IndexNarrower narrower(function);
  if (narrower.isPossible())
    narrower.run();
}
