// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Asynchronous copies: cp.async, cp.async.bulk and cp.async.bulk.tensor.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::ad::emulator;

static LogicalResult lowerCpAsync(Lowering &l, NVVM::CpAsyncOp op) {
  Value bytes = l.constant(op.getSize());
  l.callAt("adsim_cp_async", {}, {op.getDst(), op.getSrc(), bytes, op.getCpSize() ? op.getCpSize() : bytes});
  l.replace();
  return success();
}

static LogicalResult lowerCommit(Lowering &l, NVVM::CpAsyncCommitGroupOp op) {
  l.callAt("adsim_cp_async_commit", {}, {});
  l.replace();
  return success();
}

static LogicalResult lowerWait(Lowering &l, NVVM::CpAsyncWaitGroupOp op) {
  l.callAt("adsim_cp_async_wait", {}, {l.constant(op.getN())});
  l.replace();
  return success();
}

static Value maskOr(Lowering &l, Value mask) { return mask ? l.asInteger(mask, 32) : l.constant(0); }

static Value storeCoordinates(Lowering &l, ValueRange coordinates) {
  Value memory = l.words(static_cast<unsigned>(coordinates.size()));
  for (auto [index, value] : llvm::enumerate(coordinates))
    l.putWord(memory, static_cast<unsigned>(index), value);
  return memory;
}

static LogicalResult lowerTensorLoad(Lowering &l, NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
  if (op.getMode() != NVVM::TMALoadMode::TILE || !op.getIm2colOffsets().empty() || op.getGroup())
    return l.refuse(
        "loads in a mode that the emulator does not have; it loads tiles for one CTA or a multicast");
  Value predicate = op.getPredicate() ? l.asInteger(op.getPredicate(), 32) : l.constant(1);
  l.callAt("adsim_tensor_load", {},
           {op.getDstMem(), op.getTmaDescriptor(), op.getMbar(), storeCoordinates(l, op.getCoordinates()),
            l.constant(static_cast<int64_t>(op.getCoordinates().size())), maskOr(l, op.getMulticastMask()),
            predicate});
  l.replace();
  return success();
}

static LogicalResult lowerTensorStore(Lowering &l, NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp op) {
  if (op.getMode() != NVVM::TMAStoreMode::TILE)
    return l.refuse("stores in a mode that the emulator does not have; it stores tiles");
  Value predicate = op.getPredicate() ? l.asInteger(op.getPredicate(), 32) : l.constant(1);
  l.callAt("adsim_tensor_store", {},
           {op.getTmaDescriptor(), op.getSrcMem(), storeCoordinates(l, op.getCoordinates()),
            l.constant(static_cast<int64_t>(op.getCoordinates().size())), predicate});
  l.replace();
  return success();
}

static LogicalResult lowerTensorReduce(Lowering &l, NVVM::CpAsyncBulkTensorReduceOp op) {
  return l.refuse(
      "reduces into global memory in no defined order, which the emulator does not have; store tiles and "
      "add them in a kernel of their own");
}

static LogicalResult lowerBulkLoad(Lowering &l, NVVM::CpAsyncBulkGlobalToSharedClusterOp op) {
  l.callAt("adsim_bulk_load", {},
           {op.getDstMem(), op.getSrcMem(), op.getMbar(), op.getSize(), maskOr(l, op.getMulticastMask())});
  l.replace();
  return success();
}

static LogicalResult lowerBulkStore(Lowering &l, NVVM::CpAsyncBulkSharedCTAToGlobalOp op) {
  if (op.getByteMask())
    return l.refuse("masks bytes, which the emulator does not have");
  l.callAt("adsim_bulk_store", {}, {op.getDstMem(), op.getSrcMem(), op.getSize()});
  l.replace();
  return success();
}

static LogicalResult lowerBulkShared(Lowering &l, NVVM::CpAsyncBulkSharedCTAToSharedClusterOp op) {
  l.callAt("adsim_bulk_shared", {}, {op.getDstMem(), op.getSrcMem(), op.getMbar(), op.getSize()});
  l.replace();
  return success();
}

static LogicalResult lowerBulkCommit(Lowering &l, NVVM::CpAsyncBulkCommitGroupOp op) {
  l.callAt("adsim_bulk_commit", {}, {});
  l.replace();
  return success();
}

static LogicalResult lowerBulkWait(Lowering &l, NVVM::CpAsyncBulkWaitGroupOp op) {
  l.callAt("adsim_bulk_wait", {}, {l.constant(op.getGroup()), l.constant(op.getRead().has_value())});
  l.replace();
  return success();
}

void mlir::ad::emulator::addCopies(InstructionTable &table) {
  addInstruction(table, lowerCpAsync);
  addInstruction(table, lowerCommit);
  addInstruction(table, lowerWait);
  addInstruction(table, lowerTensorLoad);
  addInstruction(table, lowerTensorStore);
  addInstruction(table, lowerTensorReduce);
  addInstruction(table, lowerBulkLoad);
  addInstruction(table, lowerBulkStore);
  addInstruction(table, lowerBulkShared);
  addInstruction(table, lowerBulkCommit);
  addInstruction(table, lowerBulkWait);
}
