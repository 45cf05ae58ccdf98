// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Instructions of mbarriers, and mapa.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::ad::emulator;
using adsim::MBarrierScope;

static Value orOne(Lowering &l, Value predicate) {
  return predicate ? l.asInteger(predicate, 32) : l.constant(1);
}

static LogicalResult lowerInit(Lowering &l, NVVM::MBarrierInitOp op) {
  l.callAt("adsim_mbarrier_init", {}, {op.getAddr(), op.getCount(), orOne(l, op.getPredicate())});
  l.replace();
  return success();
}

static LogicalResult lowerInval(Lowering &l, NVVM::MBarrierInvalOp op) {
  l.callAt("adsim_mbarrier_inval", {}, {op.getAddr()});
  l.replace();
  return success();
}

static LogicalResult lowerExpect(Lowering &l, NVVM::MBarrierExpectTxOp op) {
  l.callAt("adsim_mbarrier_expect", {}, {op.getAddr(), op.getTxcount()});
  l.replace();
  return success();
}

static LogicalResult lowerComplete(Lowering &l, NVVM::MBarrierCompleteTxOp op) {
  l.callAt("adsim_mbarrier_complete", {}, {op.getAddr(), op.getTxcount()});
  l.replace();
  return success();
}

namespace {
struct Arrival {
  Value address, count, bytes, predicate;
  bool drop = false;
  MBarrierScope scope = MBarrierScope::Cta;
};
} // namespace

template <typename Op> static MBarrierScope scopeOf(Op op) {
  if (op.getRelaxed())
    return MBarrierScope::Relaxed;
  return op.getScope() == NVVM::MemScopeKind::CTA ? MBarrierScope::Cta : MBarrierScope::Cluster;
}

static LogicalResult emitArrival(Lowering &l, const Arrival &arrival) {
  Value count = arrival.count ? arrival.count : l.constant(1);
  Value bytes = arrival.bytes ? arrival.bytes : l.constant(0);
  l.replace(l.callAt("adsim_mbarrier_arrive", l.i64,
                     {arrival.address, count, bytes, l.constant(arrival.drop),
                      l.constant(static_cast<int64_t>(arrival.scope)), orOne(l, arrival.predicate)}));
  return success();
}

static LogicalResult lowerArrive(Lowering &l, NVVM::MBarrierArriveOp op) {
  return emitArrival(l, {op.getAddr(), op.getCount(), {}, {}, false, scopeOf(op)});
}
static LogicalResult lowerArriveDrop(Lowering &l, NVVM::MBarrierArriveDropOp op) {
  return emitArrival(l, {op.getAddr(), op.getCount(), {}, {}, true, scopeOf(op)});
}
static LogicalResult lowerArriveNoComplete(Lowering &l, NVVM::MBarrierArriveNocompleteOp op) {
  return emitArrival(l, {op.getAddr(), op.getCount(), {}, {}});
}
static LogicalResult lowerArriveExpect(Lowering &l, NVVM::MBarrierArriveExpectTxOp op) {
  return emitArrival(l, {op.getAddr(), {}, op.getTxcount(), op.getPredicate(), false, scopeOf(op)});
}

static Value emitWait(Lowering &l, Value address, Value stateOrPhase, adsim::WaitKind kind,
                      MBarrierScope scope) {
  bool parity = stateOrPhase.getType() == l.i32;
  Value done = l.callAt("adsim_mbarrier_wait", l.i32,
                        {address, l.asInteger(stateOrPhase, 64), l.constant(parity),
                         l.constant(static_cast<int64_t>(kind)), l.constant(static_cast<int64_t>(scope))});
  return l.fromInteger(done, l.i1);
}

static LogicalResult lowerTestWait(Lowering &l, NVVM::MBarrierTestWaitOp op) {
  l.replace(emitWait(l, op.getAddr(), op.getStateOrPhase(), adsim::WaitKind::Test, scopeOf(op)));
  return success();
}
static LogicalResult lowerTryWait(Lowering &l, NVVM::MBarrierTryWaitOp op) {
  l.replace(emitWait(l, op.getAddr(), op.getStateOrPhase(), adsim::WaitKind::Try, scopeOf(op)));
  return success();
}
static LogicalResult lowerWait(Lowering &l, NVVM::MBarrierTryWaitParityOp op) {
  emitWait(l, op.getAddr(), op.getPhase(), adsim::WaitKind::Wait, MBarrierScope::Cta);
  l.replace();
  return success();
}

static LogicalResult lowerCopyArrive(Lowering &l, NVVM::CpAsyncMBarrierArriveOp op) {
  l.callAt("adsim_cp_async_arrive", {}, {op.getAddr(), l.constant(op.getNoinc())});
  l.replace();
  return success();
}

static LogicalResult lowerMapa(Lowering &l, NVVM::MapaOp op) {
  l.replace(l.callAt("adsim_mapa", l.pointer, {op.getA(), op.getB()}));
  return success();
}

void mlir::ad::emulator::addMBarriers(InstructionTable &table) {
  addInstruction(table, lowerInit);
  addInstruction(table, lowerInval);
  addInstruction(table, lowerExpect);
  addInstruction(table, lowerComplete);
  addInstruction(table, lowerArrive);
  addInstruction(table, lowerArriveDrop);
  addInstruction(table, lowerArriveNoComplete);
  addInstruction(table, lowerArriveExpect);
  addInstruction(table, lowerTestWait);
  addInstruction(table, lowerTryWait);
  addInstruction(table, lowerWait);
  addInstruction(table, lowerCopyArrive);
  addInstruction(table, lowerMapa);
}
