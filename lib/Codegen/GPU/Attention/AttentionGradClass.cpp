// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AttentionGradClass.h"
#include "AttentionGradKernel.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using ::mlir::gpu::GPUFuncOp;

static AttentionGradOp opOf(KernelOp kernel) {
  return cast<AttentionGradOp>(kernel.getBody().front().front());
}

// The grid has a block of threads for each tile of the result that has most of them.
static LaunchShape launchOf(KernelOp kernel, int64_t rowsOfTile, int64_t keysOfTile) {
  AttentionGradOp op = opOf(kernel);
  LaunchShape launch = {MappingLevel::block, /*result=*/0, /*axes=*/3};
  int64_t most = -1;
  for (auto [number, result] : llvm::enumerate(kernel.getBody().front().getTerminator()->getOperands())) {
    auto type = cast<RankedTensorType>(result.getType());
    int64_t ofTile = result == op.getQueryGrad() ? rowsOfTile : keysOfTile;
    int64_t length = type.getDimSize(2), heads = type.getDimSize(1);
    int64_t tiles = ShapedType::isDynamic(length) ? heads : heads * llvm::divideCeil(length, ofTile);
    if (tiles <= most)
      continue;
    most = tiles;
    launch.result = static_cast<int64_t>(number);
    launch.tile = {ofTile};
  }
  return launch;
}

static bool mayUseTensorCores(AttentionGradOp op, const AttentionShape &shape) {
  return MmaShape::hasType(shape) && allows(op, Permissions::mma);
}

namespace {
struct AttentionGradPlan : KernelPlan {
  explicit AttentionGradPlan(KernelOp kernel) : AttentionGradPlan(kernel, opOf(kernel)) {}
  AttentionGradPlan(KernelOp kernel, AttentionGradOp op) : shape(op), fma(shape) {
    if (mayUseTensorCores(op, shape) && allowsRewrite("tensor-cores", Permissions::mma, op))
      mma = MmaGradShape::find(shape);
    rows = mma ? mma->rows() : fma.rows();
    keys = mma ? mma->rows() : FmaGrid::kSlabKeys;
    launch = launchOf(kernel, rows, keys);
    launch.threadsPerBlock = mma ? mma->threads() : FmaGrid::kThreads;
    launch.dynamicSharedBytes = mma ? mma->sharedBytes() : fma.sharedBytes();
  }
  SmallVector<Fact> facts() const override {
    return {{"instruction", mma ? "mma.sync" : "fma"},
            {"tile", std::to_string(rows) + "x" + std::to_string(keys)}};
  }
  AttentionShape shape;
  FmaGradShape fma;
  std::optional<MmaGradShape> mma; // otherwise by FMA
  int64_t rows, keys;              // of a tile
  LaunchShape launch;
};
} // namespace

// A tile of queries goes through its keys one chunk after the other. Where few queries have many keys, most
// of a GPU would wait: the kernels of the decomposition divide the keys among blocks.
static std::string whyNot(AttentionGradOp op, Operation *yield) {
  AttentionShape shape(op);
  if (op.getMaskGrad() && llvm::is_contained(yield->getOperands(), op.getMaskGrad()))
    return "the cotangent of a mask is summed along axes that tiles divide";
  std::optional<MmaGradShape> mma = MmaGradShape::find(shape);
  if (mayUseTensorCores(op, shape) && !mma)
    return "its rows do not fit tensor cores here, but those of its loops";
  if (shape.hasChunksUpTo(kAttentionKeys))
    return {};
  std::optional<int64_t> tiles = shape.tileCount(mma ? mma->rows() : FmaGradShape(shape).rows());
  if (!tiles)
    return "chunks of keys have any length, since the number of queries is open; write a chunk of up to 256";
  if (*tiles < kDefaultSMCount)
    return "few queries have long chunks of keys, which its loops divide among blocks";
  return {};
}

bool AttentionGradClass::covers(FusionOp fusion) const {
  auto operations = fusion.getBody().front().without_terminator();
  auto op =
      llvm::hasSingleElement(operations) ? dyn_cast<AttentionGradOp>(*operations.begin()) : AttentionGradOp();
  if (!op)
    return false;
  std::string reason = whyNot(op, fusion.getBody().front().getTerminator());
  if (!reason.empty())
    remark::missed(op.getLoc(), remark::RemarkOpts::name("attention-loops").category("ad-gpu"))
        << remark::metric("reason", reason);
  return reason.empty();
}

std::unique_ptr<KernelPlan> AttentionGradClass::matchOnGPU(KernelOp kernel, const GPUTarget &,
                                                           std::string &) const {
  return std::make_unique<AttentionGradPlan>(kernel);
}

LogicalResult AttentionGradClass::emit(GPUFunctions &functions, const KernelPlan &plan) const {
  const auto &own = static_cast<const AttentionGradPlan &>(plan);
  GPUFuncOp function = functions.define();
  if (own.mma) {
    recordNumericsUse(functions.kernel.getLoc(), "tensor-cores", Permissions::mma);
    emitMmaGrad(function, functions.kernel, own.shape, *own.mma);
  } else {
    emitFmaGrad(function, functions.kernel, own.shape, own.fma);
  }
  functions.finish(function, own.launch, {/*minBlocksPerSM=*/1}, getName());
  functions.declare(function, own.launch);
  return success();
}
