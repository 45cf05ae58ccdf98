// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The phases of an mbarrier alternate. A wait names the parity of the phase that has to be complete; the
// phase before the first one counts as complete (PTX ISA: mbarrier.try_wait.parity).

#include "MbarrierPipeline.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static constexpr int64_t kBarrierBytes = 8;

int64_t MbarrierPipeline::barrierBytes(int64_t stages) { return 2 * stages * kBarrierBytes; }

Value MbarrierPipeline::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value MbarrierPipeline::pointerAt(Value byte) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), byte);
  return LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(), memory, ValueRange{offset});
}

Value MbarrierPipeline::pointerTo(Value kTile, Value byte) {
  Value stage = builder.createOrFold<arith::RemUIOp>(loc, kTile, index(shape.stages));
  Value start = builder.createOrFold<arith::MulIOp>(loc, stage, index(shape.stageBytes));
  return pointerAt(builder.createOrFold<arith::AddIOp>(loc, start, byte));
}

// `first` is the number of the mbarrier of stage 0.
Value MbarrierPipeline::barrierOf(Value kTile, int64_t first) {
  Value stage = builder.createOrFold<arith::RemUIOp>(loc, kTile, index(shape.stages));
  Value number = builder.createOrFold<arith::AddIOp>(loc, stage, index(first));
  Value byte = builder.createOrFold<arith::MulIOp>(loc, number, index(kBarrierBytes));
  return pointerAt(builder.createOrFold<arith::AddIOp>(loc, byte, index(shape.barriersOffset)));
}

// The parity of the K tile's pass through the stages, plus `shift`.
Value MbarrierPipeline::parityOf(Value kTile, int64_t shift) {
  Value round = builder.createOrFold<arith::DivUIOp>(loc, kTile, index(shape.stages));
  round = builder.createOrFold<arith::AddIOp>(loc, round, index(shift));
  round = builder.createOrFold<arith::AndIOp>(loc, round, index(1));
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), round);
}

void MbarrierPipeline::initialize() {
  auto count = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
  };
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    NVVM::MBarrierInitOp::create(builder, loc, barrierOf(index(stage), 0), count(1), Value());
    NVVM::MBarrierInitOp::create(builder, loc, barrierOf(index(stage), shape.stages),
                                 count(shape.consumers * shape.clusterSize), Value());
  }
  // The asynchronous proxy has to see the initialized mbarriers too.
  NVVM::FenceMbarrierInitOp::create(builder, loc);
}

// The scope of the block (.cta) suffices in clusters too: only the asynchronous proxy writes and reads the
// stages, and an arrival says that its reads are complete. In the scope of the cluster each arrival and wait
// would be a fence of all memory, in every iteration (decision 0017).
static constexpr NVVM::MemScopeKind kScope = NVVM::MemScopeKind::CTA;

void MbarrierPipeline::wait(Value barrier, Value parity) {
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loop.getBefore());
  Value done =
      NVVM::MBarrierTryWaitOp::create(builder, loc, builder.getI1Type(), barrier, parity, Value(), kScope);
  Value yes = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  Value again = arith::XOrIOp::create(builder, loc, done, yes);
  scf::ConditionOp::create(builder, loc, again, ValueRange());
  builder.createBlock(&loop.getAfter());
  scf::YieldOp::create(builder, loc);
}

Value MbarrierPipeline::acquire(Value kTile) {
  wait(emptyBarrier(kTile), parityOf(kTile, 1));
  Value full = fullBarrier(kTile);
  Value bytes = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), shape.stageBytes);
  NVVM::MBarrierArriveExpectTxOp::create(builder, loc, Type(), full, bytes, kScope,
                                         /*relaxed=*/false, Value());
  return full;
}

void MbarrierPipeline::waitFull(Value kTile) { wait(fullBarrier(kTile), parityOf(kTile, 0)); }

void MbarrierPipeline::release(Value kTile, Value block) {
  Value barrier = emptyBarrier(kTile);
  if (shape.clusterSize > 1) {
    Value rank = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), block);
    Type inCluster = LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace);
    barrier = NVVM::MapaOp::create(builder, loc, inCluster, barrier, rank);
  }
  NVVM::MBarrierArriveOp::create(builder, loc, Type(), barrier, Value(), kScope);
}
