// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Barriers of CTAs and clusters, fences, setmaxnreg.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::ad::emulator;
using adsim::BarrierReduction;
using adsim::FenceKind;

static LogicalResult lowerBarrier0(Lowering &l, NVVM::Barrier0Op op) {
  Value zero = l.constant(0);
  l.callAt("adsim_barrier", l.i32, {zero, zero, zero, zero});
  l.replace();
  return success();
}

static BarrierReduction reductionOf(std::optional<NVVM::BarrierReduction> kind) {
  if (!kind)
    return BarrierReduction::None;
  switch (*kind) {
  case NVVM::BarrierReduction::POPC:
    return BarrierReduction::Popc;
  case NVVM::BarrierReduction::AND:
    return BarrierReduction::And;
  case NVVM::BarrierReduction::OR:
    return BarrierReduction::Or;
  }
  return BarrierReduction::None;
}

static LogicalResult lowerBarrier(Lowering &l, NVVM::BarrierOp op) {
  auto orZero = [&](Value value) { return value ? value : l.constant(0); };
  auto kind = static_cast<int64_t>(reductionOf(op.getReductionOp()));
  l.replace(l.callAt("adsim_barrier", l.i32,
                     {orZero(op.getBarrierId()), orZero(op.getNumberOfThreads()), l.constant(kind),
                      orZero(op.getReductionPredicate())}));
  return success();
}

static LogicalResult lowerBarrierArrive(Lowering &l, NVVM::BarrierArriveOp op) {
  Value id = op.getBarrierId() ? op.getBarrierId() : l.constant(0);
  l.callAt("adsim_barrier_arrive", {}, {id, op.getNumberOfThreads()});
  l.replace();
  return success();
}

static LogicalResult lowerClusterArrive(Lowering &l, NVVM::ClusterArriveOp op) {
  l.callAt("adsim_cluster_arrive", {}, {l.constant(0)});
  l.replace();
  return success();
}

static LogicalResult lowerClusterArriveRelaxed(Lowering &l, NVVM::ClusterArriveRelaxedOp op) {
  l.callAt("adsim_cluster_arrive", {}, {l.constant(1)});
  l.replace();
  return success();
}

static LogicalResult lowerClusterWait(Lowering &l, NVVM::ClusterWaitOp op) {
  l.callAt("adsim_cluster_wait", {}, {});
  l.replace();
  return success();
}

static LogicalResult emitFence(Lowering &l, FenceKind kind) {
  l.callAt("adsim_fence", {}, {l.constant(static_cast<int64_t>(kind))});
  l.replace();
  return success();
}

static LogicalResult lowerMembar(Lowering &l, NVVM::MembarOp op) { return emitFence(l, FenceKind::Memory); }
static LogicalResult lowerFenceCluster(Lowering &l, NVVM::FenceScClusterOp op) {
  return emitFence(l, FenceKind::Memory);
}
static LogicalResult lowerFenceInit(Lowering &l, NVVM::FenceMbarrierInitOp op) {
  return emitFence(l, FenceKind::Memory);
}

static LogicalResult lowerFenceProxy(Lowering &l, NVVM::FenceProxyOp op) {
  switch (op.getKind()) {
  case NVVM::ProxyKind::async:
  case NVVM::ProxyKind::async_global:
  case NVVM::ProxyKind::async_shared:
    return emitFence(l, FenceKind::ProxyAsync);
  default:
    return l.refuse("is for a proxy that the emulator does not model; it knows the asynchronous one");
  }
}

template <typename Op> static LogicalResult ignore(Lowering &l, Op) {
  l.replace();
  return success();
}

static LogicalResult lowerSetMaxRegister(Lowering &l, NVVM::SetMaxRegisterOp op) {
  bool increases = op.getAction() == NVVM::SetMaxRegisterAction::increase;
  l.callAt("adsim_set_max_registers", {}, {l.constant(op.getRegCount()), l.constant(increases)});
  l.replace();
  return success();
}

void mlir::ad::emulator::addSynchronization(InstructionTable &table) {
  addInstruction(table, lowerBarrier0);
  addInstruction(table, lowerBarrier);
  addInstruction(table, lowerBarrierArrive);
  addInstruction(table, lowerClusterArrive);
  addInstruction(table, lowerClusterArriveRelaxed);
  addInstruction(table, lowerClusterWait);
  addInstruction(table, lowerMembar);
  addInstruction(table, lowerFenceCluster);
  addInstruction(table, lowerFenceInit);
  addInstruction(table, lowerFenceProxy);
  addInstruction(table, lowerSetMaxRegister);
  // Hints without effect on results.
  addInstruction(table, ignore<NVVM::PrefetchOp>);
  addInstruction(table, ignore<NVVM::CpAsyncBulkPrefetchOp>);
  addInstruction(table, ignore<NVVM::CpAsyncBulkTensorPrefetchOp>);
  addInstruction(table, ignore<NVVM::GriddepcontrolOp>);
  addInstruction(table, ignore<NVVM::NanosleepOp>);
}
