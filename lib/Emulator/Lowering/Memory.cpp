// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks before memory accesses, and before integer divisions that would trap on the host.
#include "Lowering.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad::emulator;

static unsigned spaceOf(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
}

/// Whether the pointer refers to local memory: variables of the frame, or by-value parameters.
static bool isLocal(Value pointer) {
  unsigned space = spaceOf(pointer);
  if (space == LocalSpace || space == ParameterSpace)
    return true;
  for (Operation *op = pointer.getDefiningOp(); op; op = pointer.getDefiningOp()) {
    if (isa<LLVM::AllocaOp>(op))
      return true;
    if (!isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(op))
      return false;
    pointer = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(pointer);
  auto function = argument ? dyn_cast<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return function && argument.getOwner()->isEntryBlock() && argument.getArgNumber() &&
         function.getArgAttr(argument.getArgNumber(), LLVM::LLVMDialect::getByValAttrName());
}

uint32_t mlir::ad::emulator::accessFlags(Value pointer, uint64_t alignment, uint32_t more) {
  uint32_t space = adsim::AccessGeneric;
  switch (spaceOf(pointer)) {
  case GlobalSpace:
  case ConstantSpace:
    space = adsim::AccessGlobal;
    break;
  case SharedSpace:
    space = adsim::AccessShared;
    break;
  case ClusterSpace:
    space = adsim::AccessCluster;
    break;
  default:
    break;
  }
  return space | more | llvm::Log2_64(alignment) << adsim::accessAlignShift;
}

namespace {

/// The size and the alignment of an access.
struct Extent {
  uint64_t bytes, alignment;
};

// The default alignment is that of the type on the GPU: vectors are aligned to their size, rounded up to a
// power of two.
Extent extentOf(const Lowering &l, Type type, std::optional<uint64_t> alignment) {
  uint64_t bytes = l.getLayout().getTypeSize(type).getFixedValue();
  constexpr uint64_t maxAlignment = 16;
  uint64_t natural = isa<VectorType>(type)
                         ? std::min(maxAlignment, llvm::PowerOf2Ceil(std::max<uint64_t>(bytes, 1)))
                         : l.getLayout().getTypeABIAlignment(type);
  return {bytes, alignment.value_or(natural)};
}

uint32_t orderFlags(LLVM::AtomicOrdering ordering) {
  switch (ordering) {
  case LLVM::AtomicOrdering::acquire:
    return adsim::AccessAcquire;
  case LLVM::AtomicOrdering::release:
    return adsim::AccessRelease;
  case LLVM::AtomicOrdering::acq_rel:
  case LLVM::AtomicOrdering::seq_cst:
    return adsim::AccessAcquire | adsim::AccessRelease;
  default:
    return 0;
  }
}

void emitAccess(Lowering &l, StringRef function, Value pointer, Extent extent, uint32_t flags) {
  l.callAt(function, {},
           {pointer, l.constant64(static_cast<int64_t>(extent.bytes)),
            l.constant(accessFlags(pointer, extent.alignment, flags))});
}

LogicalResult instrumentAccess(Lowering &l, Value pointer, Type type, std::optional<uint64_t> alignment,
                               uint32_t flags, bool isVolatile, LLVM::AtomicOrdering ordering) {
  if (isLocal(pointer))
    return success();
  Extent extent = extentOf(l, type, alignment);
  // Volatile accesses are relaxed atomics in the scope of the system.
  bool atomic = isVolatile || ordering != LLVM::AtomicOrdering::not_atomic;
  if (atomic)
    flags |= adsim::AccessAtomic | orderFlags(ordering);
  emitAccess(l, atomic ? "adsim_atomic" : "adsim_access", pointer, extent, flags);
  return success();
}

LogicalResult instrumentReadModifyWrite(Lowering &l, Value pointer, Type type,
                                        std::optional<uint64_t> alignment, LLVM::AtomicOrdering ordering) {
  if (isLocal(pointer))
    return success();
  emitAccess(l, "adsim_atomic", pointer, extentOf(l, type, alignment),
             adsim::AccessAtomic | adsim::AccessWrite | orderFlags(ordering));
  return success();
}

LogicalResult instrumentMasked(Lowering &l, Value pointer, Value mask, Type type, uint64_t alignment,
                               uint32_t flags) {
  if (isLocal(pointer))
    return success();
  auto vector = cast<VectorType>(type);
  constexpr int64_t maxElements = 64;
  if (vector.getNumElements() > maxElements)
    return l.refuse("masks more than 64 elements; split the vector");
  Extent element = extentOf(l, vector.getElementType(), std::nullopt);
  element.alignment = std::min(element.alignment, alignment);
  l.callAt("adsim_access_masked", {},
           {pointer, l.asInteger(mask, 64), l.constant(static_cast<int64_t>(element.bytes)),
            l.constant(accessFlags(pointer, element.alignment, flags))});
  return success();
}

void instrumentRange(Lowering &l, Value pointer, Value bytes, uint32_t flags) {
  if (isLocal(pointer))
    return;
  l.callAt("adsim_access_range", {},
           {pointer, l.asInteger(bytes, 64), l.constant(accessFlags(pointer, 1, flags))});
}

bool isNonZeroConstant(Value value) {
  auto constant = value.getDefiningOp<LLVM::ConstantOp>();
  auto integer = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return integer && !integer.getValue().isZero() && !integer.getValue().isAllOnes();
}

// The host traps where the GPU gives an unspecified number. Both are faults of the program.
LogicalResult instrumentDivision(Lowering &l, Value dividend, Value divisor, bool isSigned) {
  if (isNonZeroConstant(divisor))
    return success();
  if (!divisor.getType().isInteger())
    return l.refuse("divides vectors of integers; divide their elements");
  Type type = divisor.getType();
  auto isEqual = [&](Value value, const APInt &number) -> Value {
    Value constant =
        LLVM::ConstantOp::create(l.builder, l.loc(), type, l.builder.getIntegerAttr(type, number));
    return LLVM::ICmpOp::create(l.builder, l.loc(), LLVM::ICmpPredicate::eq, value, constant);
  };
  unsigned width = type.getIntOrFloatBitWidth();
  Value bad = isEqual(divisor, APInt::getZero(width));
  if (isSigned) {
    Value overflow = LLVM::AndOp::create(l.builder, l.loc(), isEqual(divisor, APInt::getAllOnes(width)),
                                         isEqual(dividend, APInt::getSignedMinValue(width)));
    bad = LLVM::OrOp::create(l.builder, l.loc(), bad, overflow);
  }
  l.callAt("adsim_divisor", {}, {l.asInteger(bad, 32)});
  return success();
}

// Ranges of bytes, fences, divisions and traps.
LogicalResult instrumentOther(Lowering &l, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LLVM::MemcpyOp copy) {
        instrumentRange(l, copy.getSrc(), copy.getLen(), 0);
        instrumentRange(l, copy.getDst(), copy.getLen(), adsim::AccessWrite);
        return success();
      })
      .Case([&](LLVM::MemsetOp set) {
        instrumentRange(l, set.getDst(), set.getLen(), adsim::AccessWrite);
        return success();
      })
      .Case([&](LLVM::FenceOp fence) {
        if (fence.getOrdering() != LLVM::AtomicOrdering::monotonic)
          l.callAt("adsim_fence", {}, {l.constant(static_cast<int64_t>(adsim::FenceKind::Memory))});
        return success();
      })
      .Case<LLVM::SDivOp, LLVM::SRemOp>(
          [&](auto division) { return instrumentDivision(l, division.getLhs(), division.getRhs(), true); })
      .Case<LLVM::UDivOp, LLVM::URemOp>(
          [&](auto division) { return instrumentDivision(l, division.getLhs(), division.getRhs(), false); })
      .Case([&](LLVM::Trap) {
        l.callAt("adsim_trap", {}, {});
        return success();
      })
      .Case<LLVM::masked_gather, LLVM::masked_scatter, LLVM::MemmoveOp, LLVM::masked_expandload,
            LLVM::masked_compressstore>([&](auto) {
        return l.refuse("is an access that the emulator does not check; write it as loads and stores");
      })
      .Default(success());
}

} // namespace

LogicalResult mlir::ad::emulator::instrument(Lowering &l, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LLVM::LoadOp load) {
        return instrumentAccess(l, load.getAddr(), load.getType(), load.getAlignment(), 0,
                                load.getVolatile_(), load.getOrdering());
      })
      .Case([&](LLVM::StoreOp store) {
        return instrumentAccess(l, store.getAddr(), store.getValue().getType(), store.getAlignment(),
                                adsim::AccessWrite, store.getVolatile_(), store.getOrdering());
      })
      .Case([&](LLVM::AtomicRMWOp atomic) {
        return instrumentReadModifyWrite(l, atomic.getPtr(), atomic.getVal().getType(), atomic.getAlignment(),
                                         atomic.getOrdering());
      })
      .Case([&](LLVM::AtomicCmpXchgOp atomic) {
        return instrumentReadModifyWrite(l, atomic.getPtr(), atomic.getVal().getType(), atomic.getAlignment(),
                                         atomic.getSuccessOrdering());
      })
      .Case([&](LLVM::MaskedLoadOp load) {
        return instrumentMasked(l, load.getData(), load.getMask(), load.getType(), load.getAlignment(), 0);
      })
      .Case([&](LLVM::MaskedStoreOp store) {
        return instrumentMasked(l, store.getData(), store.getMask(), store.getValue().getType(),
                                store.getAlignment(), adsim::AccessWrite);
      })
      .Default([&](Operation *) { return instrumentOther(l, op); });
}
