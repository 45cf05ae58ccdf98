// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AttentionClass.h"
#include "Fma/FmaAttention.h"
#include "Mma/MmaAttention.h"
#include "Split/SplitAttention.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using ::mlir::gpu::GPUFuncOp;

static bool mayUseTensorCores(AttentionOp op, const AttentionShape &shape) {
  return MmaShape::hasType(shape) && allows(op, Permissions::mma);
}

namespace {
struct AttentionPlan : KernelPlan {
  explicit AttentionPlan(AttentionOp op) : shape(op), fma(shape) {
    bool mayUseMma = mayUseTensorCores(op, shape);
    if (SplitShape::whyNot(shape, mayUseMma).empty()) {
      bool usesMma = mayUseMma && SplitShape::fitsTensorCores(shape);
      split.emplace(shape, usesMma && allowsRewrite("tensor-cores", Permissions::mma, op));
      return;
    }
    if (mayUseMma)
      mma = MmaShape::find(shape);
    if (mma && !allowsRewrite("tensor-cores", Permissions::mma, op))
      mma.reset();
  }
  SmallVector<Fact> facts() const override {
    if (split)
      return {{"instruction", split->tensorCores ? "mma.sync" : "fma"},
              {"launches", "3"},
              {"tile", std::to_string(split->rows) + "x" + std::to_string(split->columns)}};
    int64_t rows = mma ? mma->rows() : fma.rows(), columns = mma ? mma->width : fma.columns();
    return {{"instruction", mma ? "mma.sync" : "fma"},
            {"tile", std::to_string(rows) + "x" + std::to_string(columns)}};
  }
  AttentionShape shape;
  FmaShape fma;
  std::optional<SplitShape> split; // of few queries
  std::optional<MmaShape> mma;     // otherwise by FMA
};
} // namespace

// A tile goes through its keys one chunk after the other, and through a long chunk twice. Where few queries
// have many keys, most of a GPU would wait: the kernels of the decomposition divide the keys among blocks.
static std::string whyNot(AttentionOp op) {
  AttentionShape shape(op);
  if (SplitShape::whyNot(shape, mayUseTensorCores(op, shape)).empty())
    return {};
  if (mayUseTensorCores(op, shape) && std::max(shape.depth, shape.width) > MmaShape::kLongestRow)
    return "its rows are too long for tensor cores here, but not for those of its loops";
  if (shape.hasChunksUpTo(kAttentionKeys))
    return {};
  FmaShape layout(shape);
  std::optional<int64_t> tiles = shape.tileCount(layout.rows());
  if (!tiles)
    return "chunks of keys have any length, since the number of queries is open; write a chunk of up to 256";
  if (*tiles < kDefaultSMCount || shape.rowsOfBlock() < layout.rows())
    return "few queries have long chunks of keys, which its loops divide among blocks";
  if (mayUseTensorCores(op, shape))
    return "its loops compute long chunks of keys on tensor cores";
  return {};
}

bool AttentionClass::covers(FusionOp fusion) const {
  auto operations = fusion.getBody().front().without_terminator();
  auto op = llvm::hasSingleElement(operations) ? dyn_cast<AttentionOp>(*operations.begin()) : AttentionOp();
  if (!op)
    return false;
  std::string reason = whyNot(op);
  if (!reason.empty())
    remark::missed(op.getLoc(), remark::RemarkOpts::name("attention-loops").category("ad-gpu"))
        << remark::metric("reason", reason);
  return reason.empty();
}

std::unique_ptr<KernelPlan> AttentionClass::matchOnGPU(KernelOp kernel, const GPUTarget &,
                                                       std::string &) const {
  return std::make_unique<AttentionPlan>(cast<AttentionOp>(kernel.getBody().front().front()));
}

LogicalResult AttentionClass::emit(GPUFunctions &functions, const KernelPlan &plan) const {
  const auto &own = static_cast<const AttentionPlan &>(plan);
  if (own.split) {
    if (own.split->tensorCores)
      recordNumericsUse(functions.kernel.getLoc(), "tensor-cores", Permissions::mma);
    emitSplitAttention(functions, own.shape, *own.split, getName());
    return success();
  }
  GPUFuncOp function = functions.define();
  LaunchShape launch = own.mma ? own.mma->launch() : own.fma.launch();
  if (own.mma) {
    recordNumericsUse(functions.kernel.getLoc(), "tensor-cores", Permissions::mma);
    MmaAttention(function, functions.kernel, own.shape, *own.mma).emit();
  } else {
    FmaAttention(function, functions.kernel, own.shape, own.fma).emit();
  }
  functions.finish(function, launch, {/*minBlocksPerSM=*/1}, getName());
  functions.declare(function, launch);
  return success();
}
