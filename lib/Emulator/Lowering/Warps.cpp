// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Warp-synchronous instructions and special registers.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::ad::emulator;

static adsim::ShuffleKind kindOf(NVVM::ShflKind kind) {
  switch (kind) {
  case NVVM::ShflKind::bfly:
    return adsim::ShuffleKind::Xor;
  case NVVM::ShflKind::up:
    return adsim::ShuffleKind::Up;
  case NVVM::ShflKind::down:
    return adsim::ShuffleKind::Down;
  case NVVM::ShflKind::idx:
    break;
  }
  return adsim::ShuffleKind::Index;
}

static LogicalResult lowerShuffle(Lowering &l, NVVM::ShflOp op) {
  auto pair = dyn_cast<LLVM::LLVMStructType>(op.getType());
  Type type = op.getVal().getType();
  Value valid = pair ? l.words(1) : l.null();
  Value value =
      l.callAt("adsim_shuffle", l.i32,
               {op.getThreadMask(), l.asInteger(op.getVal(), 32), op.getOffset(), op.getMaskAndClamp(),
                l.constant(static_cast<int64_t>(kindOf(op.getKind()))), valid});
  value = l.fromInteger(value, type);
  if (!pair) {
    l.replace(value);
    return success();
  }
  Value both = LLVM::PoisonOp::create(l.builder, l.loc(), pair);
  both = LLVM::InsertValueOp::create(l.builder, l.loc(), both, value, ArrayRef<int64_t>{0});
  both = LLVM::InsertValueOp::create(l.builder, l.loc(), both,
                                     l.fromInteger(l.getWord(valid, 0, l.i32), l.i1), ArrayRef<int64_t>{1});
  l.replace(both);
  return success();
}

static adsim::VoteKind kindOf(NVVM::VoteSyncKind kind) {
  switch (kind) {
  case NVVM::VoteSyncKind::any:
    return adsim::VoteKind::Any;
  case NVVM::VoteSyncKind::all:
    return adsim::VoteKind::All;
  case NVVM::VoteSyncKind::uni:
    return adsim::VoteKind::Uniform;
  case NVVM::VoteSyncKind::ballot:
    break;
  }
  return adsim::VoteKind::Ballot;
}

static LogicalResult lowerVote(Lowering &l, NVVM::VoteSyncOp op) {
  Value votes = l.callAt(
      "adsim_vote", l.i32,
      {op.getMask(), l.asInteger(op.getPred(), 32), l.constant(static_cast<int64_t>(kindOf(op.getKind())))});
  l.replace(l.fromInteger(votes, op.getType()));
  return success();
}

static LogicalResult lowerMatch(Lowering &l, NVVM::MatchSyncOp op) {
  auto pair = dyn_cast<LLVM::LLVMStructType>(op.getType());
  Value equal = pair ? l.words(1) : l.null();
  Value mask =
      l.callAt("adsim_match", l.i32,
               {op.getThreadMask(), l.asInteger(op.getVal(), 64), l.constant(pair != nullptr), equal});
  if (!pair) {
    l.replace(mask);
    return success();
  }
  Value both = LLVM::PoisonOp::create(l.builder, l.loc(), pair);
  both = LLVM::InsertValueOp::create(l.builder, l.loc(), both, mask, ArrayRef<int64_t>{0});
  both = LLVM::InsertValueOp::create(l.builder, l.loc(), both,
                                     l.fromInteger(l.getWord(equal, 0, l.i32), l.i1), ArrayRef<int64_t>{1});
  l.replace(both);
  return success();
}

static FailureOr<adsim::ReduxKind> kindOf(NVVM::ReduxKind kind) {
  switch (kind) {
  case NVVM::ReduxKind::ADD:
    return adsim::ReduxKind::Add;
  case NVVM::ReduxKind::AND:
    return adsim::ReduxKind::And;
  case NVVM::ReduxKind::OR:
    return adsim::ReduxKind::Or;
  case NVVM::ReduxKind::XOR:
    return adsim::ReduxKind::Xor;
  case NVVM::ReduxKind::MIN:
    return adsim::ReduxKind::Min;
  case NVVM::ReduxKind::MAX:
    return adsim::ReduxKind::Max;
  case NVVM::ReduxKind::UMIN:
    return adsim::ReduxKind::UMin;
  case NVVM::ReduxKind::UMAX:
    return adsim::ReduxKind::UMax;
  case NVVM::ReduxKind::FMIN:
    return adsim::ReduxKind::FMin;
  case NVVM::ReduxKind::FMAX:
    return adsim::ReduxKind::FMax;
  default:
    return failure();
  }
}

static LogicalResult lowerRedux(Lowering &l, NVVM::ReduxOp op) {
  FailureOr<adsim::ReduxKind> kind = kindOf(op.getKind());
  if (failed(kind))
    return l.refuse("reduces in a way that the emulator does not know");
  Value result =
      l.callAt("adsim_redux", l.i32,
               {op.getMaskAndClamp(), l.asInteger(op.getVal(), 32), l.constant(static_cast<int64_t>(*kind)),
                l.constant(op.getAbs()), l.constant(op.getNan())});
  l.replace(l.fromInteger(result, op.getType()));
  return success();
}

static LogicalResult lowerElect(Lowering &l, NVVM::ElectSyncOp op) {
  Value mask = op.getMembermask() ? op.getMembermask() : l.constant(-1);
  l.replace(l.fromInteger(l.callAt("adsim_elect", l.i32, {mask}), l.i1));
  return success();
}

static LogicalResult lowerWarpSync(Lowering &l, NVVM::SyncWarpOp op) {
  l.callAt("adsim_warp_sync", {}, {op.getMask()});
  l.replace();
  return success();
}

void mlir::ad::emulator::addWarpInstructions(InstructionTable &table) {
  addInstruction(table, lowerShuffle);
  addInstruction(table, lowerVote);
  addInstruction(table, lowerMatch);
  addInstruction(table, lowerRedux);
  addInstruction(table, lowerElect);
  addInstruction(table, lowerWarpSync);
}

static std::optional<uint32_t> registerNumber(StringRef name) {
  using namespace adsim;
  static const llvm::StringMap<uint32_t> numbers = {
      {"tid", TidX},
      {"ntid", NtidX},
      {"ctaid", CtaidX},
      {"nctaid", NctaidX},
      {"clusterid", ClusterIdX},
      {"nclusterid", NClusterIdX},
      {"cluster.ctaid", ClusterCtaidX},
      {"cluster.nctaid", ClusterNctaidX},
      {"laneid", LaneId},
      {"warpid", WarpId},
      {"nwarpid", NWarpId},
      {"cluster.ctarank", ClusterCtarank},
      {"cluster.nctarank", ClusterNctarank},
      {"dynamic.smem.size", DynamicSharedBytes},
      {"total.smem.size", TotalSharedBytes},
  };
  auto axis = StringRef("xyz").find(name.back());
  bool hasAxis = name.size() > 2 && name[name.size() - 2] == '.' && axis != StringRef::npos;
  auto found = numbers.find(hasAxis ? name.drop_back(2) : name);
  if (found == numbers.end())
    return std::nullopt;
  return found->second + (hasAxis ? static_cast<uint32_t>(axis) : 0);
}

static Value readRegister(Lowering &l, uint32_t number) {
  Value at = LLVM::GEPOp::create(l.builder, l.loc(), l.pointer, l.i32, l.self(),
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  // Special registers never change, so the compiler may load each one once.
  return LLVM::LoadOp::create(l.builder, l.loc(), l.i32, at, /*alignment=*/4, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/true);
}

/// %lanemask_lt, _le, _eq, _ge and _gt.
static Value laneMask(Lowering &l, StringRef which) {
  auto own = [&] { return readRegister(l, adsim::LaneId); };
  Value bit = LLVM::ShlOp::create(l.builder, l.loc(), l.constant(1), own());
  if (which == "eq")
    return bit;
  bool excludesOwn = which == "lt" || which == "ge"; // the mask below the own lane, or its complement
  Value end = excludesOwn ? bit : Value(LLVM::AddOp::create(l.builder, l.loc(), bit, bit));
  Value below = LLVM::SubOp::create(l.builder, l.loc(), end, l.constant(1));
  bool complement = which == "ge" || which == "gt";
  return complement ? Value(LLVM::XOrOp::create(l.builder, l.loc(), below, l.constant(-1))) : below;
}

LogicalResult mlir::ad::emulator::lowerRegister(Lowering &l, Operation *op, StringRef name) {
  if (name == "warpsize") {
    l.replace(l.constant(32));
    return success();
  }
  if (name.consume_front("lanemask.")) {
    l.replace(laneMask(l, name));
    return success();
  }
  std::optional<uint32_t> number = registerNumber(name);
  if (!number || op->getResult(0).getType() != l.i32)
    return l.refuse("reads a special register that the emulator does not have");
  l.replace(readRegister(l, *number));
  return success();
}
