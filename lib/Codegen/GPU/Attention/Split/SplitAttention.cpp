// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitAttention.h"
#include "SplitJoin.h"
#include "SplitParts.h"
#include "SplitScores.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "adjoint/Codegen/Kernel/LaunchStages.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using ::mlir::gpu::GPUFuncOp;

// In names of kernels only digits and letters follow `$`.
static constexpr StringLiteral kScoresSuffix = "$scores", kPartsSuffix = "$parts", kJoinSuffix = "$join";

template <class Emitter>
static void define(GPUFunctions &functions, const AttentionShape &attention, const SplitShape &shape,
                   StringRef suffix, const LaunchShape &launch, StringRef className) {
  Type memory = LLVM::LLVMPointerType::get(functions.kernel.getContext());
  GPUFuncOp function = functions.define(suffix, memory);
  Emitter(function, functions.kernel, attention, shape).emit();
  functions.finish(function, launch, {/*minBlocksPerSM=*/2}, className);
  functions.declare(function, launch);
}

// The bytes of the memory, and as many blocks as there are units; a grid that is shorter computes them, too.
static void defineSizes(KernelOp kernel, const AttentionShape &attention, const SplitShape &shape) {
  Type index = IndexType::get(kernel.getContext());
  func::FuncOp host = defineHostFunction(kernel, kStageSizesSuffix, {}, SmallVector<Type>(4, index));
  OpBuilder builder = OpBuilder::atBlockBegin(&host.getBody().front());
  AttentionCode code = AttentionCode::ofHost(builder, host, attention.accumulator);
  AttentionMemory memory(code, kernel);
  auto tilesOf = [&](int64_t rows, int64_t columns) {
    return AttentionTiles(code, attention, memory, rows, columns);
  };
  AttentionTiles ofScores = tilesOf(shape.rows, attention.width),
                 ofParts = tilesOf(shape.rows, shape.columns), ofJoin = tilesOf(1, SplitShape::kThreads);
  SplitCounts counts(code, attention, memory, ofScores);
  Value sizes[] = {counts.bytes(), SplitScores::unitCount(code, ofScores, counts),
                   SplitParts::unitCount(code, shape, ofParts, counts), ofJoin.count()};
  auto results = llvm::map_to_vector(
      sizes, [&](Value size) -> Value { return arith::IndexCastOp::create(builder, code.loc, index, size); });
  func::ReturnOp::create(builder, code.loc, results);
}

void device::emitSplitAttention(GPUFunctions &functions, const AttentionShape &attention,
                                const SplitShape &shape, StringRef className) {
  define<SplitScores>(functions, attention, shape, kScoresSuffix, shape.scores(), className);
  define<SplitParts>(functions, attention, shape, kPartsSuffix, shape.parts(), className);
  define<SplitJoin>(functions, attention, shape, kJoinSuffix, shape.join(), className);
  defineSizes(functions.kernel, attention, shape);
  Builder builder(functions.kernel.getContext());
  functions.declareDivided(shape.scores())
      ->setAttr(kLaunchStagesAttr, builder.getStrArrayAttr({kScoresSuffix, kPartsSuffix, kJoinSuffix}));
}
