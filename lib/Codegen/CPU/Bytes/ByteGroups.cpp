// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups of four i8, contiguous along K, which vpdpbusd multiplies in one lane of 32 bits: how they are
// loaded from an operand, and copied if the operand is not contiguous along K. If K is no multiple of four,
// the last group is padded with zeros, and no byte past the end of the operand is read. Code for a dynamic K
// has a part of its own for that group.

#include "ByteGroups.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static Value constantLike(OpBuilder &builder, Location loc, Value value, int64_t number) {
  Type type = value.getType();
  auto attribute = builder.getIntegerAttr(getElementTypeOrSelf(type), APInt(32, number, false, true));
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(vector, Attribute(attribute)));
  return arith::ConstantOp::create(builder, loc, attribute);
}

// The byte of the smallest index is the lowest byte; missing bytes are zero.
Value ByteGroups::joinBytes(ArrayRef<Value> bytes) {
  Value joined;
  for (auto [i, byte] : llvm::enumerate(bytes)) {
    Type wide = builder.getI32Type();
    if (auto type = dyn_cast<VectorType>(byte.getType()))
      wide = VectorType::get(type.getShape(), wide);
    Value part = arith::ExtUIOp::create(builder, loc, wide, byte);
    if (i > 0)
      part = arith::ShLIOp::create(builder, loc, part, constantLike(builder, loc, part, 8 * i));
    joined = joined ? arith::OrIOp::create(builder, loc, joined, part).getResult() : part;
  }
  return joined;
}

Value ByteGroups::biasBytes(Value groups) {
  return arith::XOrIOp::create(builder, loc, groups, constantLike(builder, loc, groups, 0x80808080));
}

Value ByteGroups::zerosLike(Value groups) { return constantLike(builder, loc, groups, 0); }

// Groups from the byte at the position on: one group, contiguous groups if the last index has lanes (which
// count bytes when there are as many lanes as bytes in a vector), or one from each lane of another axis.
Value ByteGroups::loadGroups(const Buffer &buffer, Position position) {
  bool along = lanes > 1 && position.back().step == 1;
  position.back().step = 0;
  int64_t step;
  Value indices, base = memoryAccess.linearIndex(buffer, position, step, indices);
  Type group = builder.getI32Type(), groups = VectorType::get(vectorLanes, group);
  if (lanes == 1 || (!along && !indices && step == 0))
    return LLVM::LoadOp::create(builder, loc, group, memoryAccess.pointerAt(buffer, base),
                                /*alignment=*/1);
  auto zeros = [&](Type type) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  };
  IntegerAttr unaligned = builder.getI32IntegerAttr(1);
  if (along && !mask)
    return LLVM::LoadOp::create(builder, loc, groups, memoryAccess.pointerAt(buffer, base),
                                /*alignment=*/1);
  if (along) {
    auto type = lanes == vectorLanes ? groups : VectorType::get(lanes, builder.getI8Type());
    Value loaded = LLVM::MaskedLoadOp::create(builder, loc, type, memoryAccess.pointerAt(buffer, base), mask,
                                              zeros(type), unaligned);
    return LLVM::BitcastOp::create(builder, loc, groups, loaded);
  }
  if (!indices)
    indices = laneValues.laneVector({base, step, nullptr});
  return LLVM::masked_gather::create(builder, loc, groups, memoryAccess.pointerAt(buffer, indices),
                                     memoryAccess.fullMask(), zeros(groups), unaligned);
}

// A group at the end of a dynamic K, byte by byte: those past the end are zero.
Value ByteGroups::groupWithinK(const Buffer &buffer, Position position, int64_t axisK) {
  Index &index = position[axisK];
  Value sizeK = buffer.sizes[axisK], last = binary<arith::SubIOp>(sizeK, indexConstant(1));
  Value first = binary<arith::MulIOp>(index.base, indexConstant(kBytesPerLane));
  SmallVector<Value> bytes;
  for (int64_t i = 0; i < kBytesPerLane; ++i) {
    Value at = binary<arith::AddIOp>(first, indexConstant(i));
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, sizeK);
    index.base = binary<arith::MinUIOp>(at, last);
    Value byte = memoryAccess.load(buffer, position);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(byte.getType()));
    bytes.push_back(arith::SelectOp::create(builder, loc, inside, byte, zero));
  }
  return joinBytes(bytes);
}

LogicalResult ByteGroups::overPartialGroup(Value sizeK, SmallVector<Value> &values,
                                           function_ref<LogicalResult()> body) {
  Value rest = binary<arith::RemUIOp>(sizeK, indexConstant(kBytesPerLane));
  if (std::optional<int64_t> known = constantOf(rest))
    return *known == 0 ? success() : body();
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, rest, indexConstant(0));
  auto branch = scf::IfOp::create(builder, loc, TypeRange(ValueRange(values)), some, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  if (!values.empty()) {
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, values);
  }
  builder.setInsertionPointToStart(branch.thenBlock());
  Scope scope(context);
  llvm::SaveAndRestore inRest(inPartialGroup, true);
  if (failed(body()))
    return failure();
  if (!values.empty())
    scf::YieldOp::create(builder, loc, values);
  values.assign(branch.getResults().begin(), branch.getResults().end());
  return success();
}

// The group whose number is the index along K of the position. A static K is filled in part by the group
// whose number is a constant, as the code after a loop over whole groups has it; for a dynamic K a member
// says so.
Value ByteGroups::groupAt(const Buffer &buffer, Position position, int64_t axisK) {
  if (inPartialGroup)
    return groupWithinK(buffer, position, axisK);
  int64_t sizeK = buffer.shape[axisK];
  int64_t rest = ShapedType::isDynamic(sizeK) ? 0 : sizeK % kBytesPerLane;
  Index &index = position[axisK];
  std::optional<int64_t> number = getConstantIntValue(getAsOpFoldResult(index.base));
  bool isLast = rest != 0 && number && *number == sizeK / kBytesPerLane;
  bool isContiguous = axisK + 1 == int64_t(position.size());
  Value first = binary<arith::MulIOp>(index.base, indexConstant(kBytesPerLane));
  if (isContiguous && (!isLast || sizeK >= kBytesPerLane)) {
    // The last group is the end of the four bytes that end with the operand.
    index.base = isLast ? indexConstant(sizeK - kBytesPerLane) : first;
    Value group = loadGroups(buffer, position);
    if (!isLast)
      return group;
    int64_t bits = 8 * (kBytesPerLane - rest);
    return arith::ShRUIOp::create(builder, loc, group, constantLike(builder, loc, group, bits));
  }
  SmallVector<Value> bytes;
  for (int64_t i = 0; i < (isLast ? rest : kBytesPerLane); ++i) {
    index.base = binary<arith::AddIOp>(first, indexConstant(i));
    bytes.push_back(memoryAccess.load(buffer, position));
  }
  return joinBytes(bytes);
}
