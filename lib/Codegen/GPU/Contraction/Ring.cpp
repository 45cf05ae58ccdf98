// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Mbarriers of a ring. Their phases alternate: a wait names the parity of the phase that has to be over, and
// of the phase before the first one every mbarrier says that it is.

#include "Ring.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static constexpr int64_t kBarrierBytes = 8;
static constexpr unsigned kClusterSpace = 7;

int64_t Ring::barrierBytes(int64_t stages) { return 2 * stages * kBarrierBytes; }

Value Ring::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

Value Ring::pointerAt(Value byte) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), byte);
  return LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(), memory, ValueRange{offset});
}

Value Ring::pointerTo(Value piece, Value byte) {
  Value stage = builder.createOrFold<arith::RemUIOp>(loc, piece, index(shape.stages));
  Value start = builder.createOrFold<arith::MulIOp>(loc, stage, index(shape.bytes));
  return pointerAt(builder.createOrFold<arith::AddIOp>(loc, start, byte));
}

// `first` is the number of the mbarrier of stage 0.
Value Ring::barrierOf(Value piece, int64_t first) {
  Value stage = builder.createOrFold<arith::RemUIOp>(loc, piece, index(shape.stages));
  Value number = builder.createOrFold<arith::AddIOp>(loc, stage, index(first));
  Value byte = builder.createOrFold<arith::MulIOp>(loc, number, index(kBarrierBytes));
  return pointerAt(builder.createOrFold<arith::AddIOp>(loc, byte, index(shape.barriers)));
}

// Whether the piece's round through the ring, and `shift` more, has an odd number.
Value Ring::roundOf(Value piece, int64_t shift) {
  Value round = builder.createOrFold<arith::DivUIOp>(loc, piece, index(shape.stages));
  round = builder.createOrFold<arith::AddIOp>(loc, round, index(shift));
  round = builder.createOrFold<arith::AndIOp>(loc, round, index(1));
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), round);
}

void Ring::initialize() {
  auto count = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
  };
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    NVVM::MBarrierInitOp::create(builder, loc, barrierOf(index(stage), 0), count(1), Value());
    NVVM::MBarrierInitOp::create(builder, loc, barrierOf(index(stage), shape.stages),
                                 count(shape.readers * shape.cluster), Value());
  }
  // What copies bytes is to see them too.
  NVVM::FenceMbarrierInitOp::create(builder, loc);
}

// The scope of the block suffices in clusters too: what lies in a stage is written and read by the
// asynchronous proxy alone, and an arrival says that its reads are over. In the scope of the cluster each
// would be a fence of all memory, in every step (decision 0017).
static constexpr NVVM::MemScopeKind kScope = NVVM::MemScopeKind::CTA;

void Ring::wait(Value barrier, Value parity) {
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

Value Ring::startFilling(Value piece) {
  wait(barrierOf(piece, shape.stages), roundOf(piece, 1));
  Value full = barrierOf(piece, 0);
  Value bytes = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), shape.bytes);
  NVVM::MBarrierArriveExpectTxOp::create(builder, loc, Type(), full, bytes, kScope,
                                         /*relaxed=*/false, Value());
  return full;
}

void Ring::awaitFull(Value piece) { wait(barrierOf(piece, 0), roundOf(piece, 0)); }

void Ring::release(Value piece, Value block) {
  Value barrier = barrierOf(piece, shape.stages);
  if (shape.cluster > 1) {
    Value rank = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), block);
    Type inCluster = LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace);
    barrier = NVVM::MapaOp::create(builder, loc, inCluster, barrier, rank);
  }
  NVVM::MBarrierArriveOp::create(builder, loc, Type(), barrier, Value(), kScope);
}
