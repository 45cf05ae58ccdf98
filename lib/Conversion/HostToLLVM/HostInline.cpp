// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Small tensors in loops of the host program. A kernel without loops of its own becomes a part of the loop
// that launches it, and a buffer of few bytes is a variable on the stack. LLVM keeps such a variable in a
// register (mem2reg), unless a kernel or a service of the runtime takes its address. Without both, each
// iteration would store what the loop carries and load it again, and a call would separate the two.

#include "HostEmitter.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-lower-host"

using namespace mlir;
using namespace mlir::ad;

// Two lines of the cache, or four vectors of 16 elements. All of them together are a small part of a stack.
static constexpr int64_t kMostBytesOfSlot = 256, kMostBytesOfSlots = 16 << 10;
// Operations of a kernel up to which a call costs about as much as its code.
static constexpr int64_t kMostInlinedOps = 400;

static bool isStraightCode(func::FuncOp kernel) {
  if (kernel.isExternal() || !kernel.getBody().hasOneBlock())
    return false;
  Block &body = kernel.getBody().front();
  // An alloca in a loop would take more of the stack in each iteration.
  return static_cast<int64_t>(body.getOperations().size()) <= kMostInlinedOps &&
         llvm::none_of(body, [](Operation &op) { return op.getNumRegions() > 0 || isa<LLVM::AllocaOp>(op); });
}

bool HostModule::isStraight(func::FuncOp kernel) {
  auto [known, isNew] = straight.try_emplace(kernel.getSymName(), false);
  if (isNew)
    known->second = isStraightCode(kernel);
  return known->second;
}

void HostModule::eraseInlined() {
  for (const auto &[name, isInlined] : straight)
    if (auto kernel = module.lookupSymbol<func::FuncOp>(name); isInlined && kernel && !called.contains(name))
      kernel.erase();
}

void HostEmitter::runWhole(LaunchOp launch, func::FuncOp kernel, SmallVector<Value> operands, Value units) {
  operands.push_back(indexConstant(0));
  operands.push_back(units);
  if (!launch->getParentOfType<LoopLikeOpInterface>() || !shared.isStraight(kernel)) {
    LDBG() << "@" << kernel.getSymName() << " is called";
    shared.noteCall(kernel);
    func::CallOp::create(builder, loc, kernel, operands);
    return;
  }
  LDBG() << "@" << kernel.getSymName() << " has no loops and becomes a part of the host's loop";
  IRMapping mapping;
  mapping.map(kernel.getArguments(), operands);
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, mapping);
}

// The slot of a buffer; null for one that lies in the arena or in memory of the host.
Value HostEmitter::slotOf(int64_t buffer) {
  const PlannedPlace &place = plan.places[buffer];
  bool isArena = place.home == Home::pool && place.number == 0;
  if (options.device || !(isArena || place.home == Home::result) || place.bytes > kMostBytesOfSlot ||
      place.bytes <= 0)
    return Value();
  auto [slot, isNew] = slots.try_emplace(buffer, Value());
  if (isNew && bytesOfSlots + place.bytes <= kMostBytesOfSlots) {
    constexpr unsigned alignment = 64; // as in the arena
    slot->second = stackSlot(builder.getI8Type(), place.bytes, alignment);
    bytesOfSlots += place.bytes;
  }
  return slot->second;
}

static Type typeInMemory(Type element) {
  bool isFloat = isa<FloatType>(element) && element.getIntOrFloatBitWidth() >= 32;
  return isFloat ? element
                 : IntegerType::get(element.getContext(), std::max(8u, element.getIntOrFloatBitWidth()));
}

// Loads and stores of the vectors that kernels store. LLVM keeps no variable in a register that memcpy copies
// to another one.
static void copyVectors(OpBuilder &builder, Location loc, Value target, Value source, RankedTensorType type) {
  constexpr int64_t bytesOfVector = 64;
  Type element = typeInMemory(type.getElementType());
  int64_t width = element.getIntOrFloatBitWidth() / 8, count = type.getNumElements();
  auto at = [&](Value base, int64_t index) -> Value {
    return LLVM::GEPOp::create(builder, loc, base.getType(), element, base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  };
  for (int64_t index = 0, lanes; index < count; index += lanes) {
    lanes = std::min<int64_t>(bytesOfVector / width, llvm::bit_floor(uint64_t(count - index)));
    Type piece = lanes == 1 ? element : VectorType::get(lanes, element);
    Value value = LLVM::LoadOp::create(builder, loc, piece, at(source, index), width);
    LLVM::StoreOp::create(builder, loc, value, at(target, index), width);
  }
}

void HostEmitter::copy(const HostTensor &target, const HostTensor &source) {
  if (target.buffer >= 0 && target.buffer == source.buffer)
    return;
  RankedTensorType type = target.type.hasStaticShape() ? target.type : source.type;
  if (type.hasStaticShape() && (slots.lookup(target.buffer) || slots.lookup(source.buffer))) {
    copyVectors(builder, loc, target.pointer, source.pointer, type);
    return;
  }
  if (source.isZero && !options.device) { // zeros need not be read
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
    LLVM::MemsetOp::create(builder, loc, target.pointer, zero, byteCount(source), /*isVolatile=*/false);
    return;
  }
  copyBytes(target.pointer, source.pointer, byteCount(source));
}

// Results that the program made on the stack go into the memory that the host gets.
void HostEmitter::returnSlots() {
  for (auto [buffer, place] : llvm::enumerate(plan.places))
    if (Value slot = slots.lookup(buffer); slot && place.home == Home::result)
      copyBytes(resultData[place.number], slot, i64(place.bytes));
}
