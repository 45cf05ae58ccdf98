// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shapes that broadcast: inference, diagnostics and the type directives of the assembly formats.

#include "Elementwise.h"

using namespace mlir;
using namespace mlir::ad;

// The size at `dimension` of a result of `rank`, aligned from the right; absent dimensions count as 1.
static int64_t alignedSize(ArrayRef<int64_t> shape, int64_t rank, int64_t dimension) {
  int64_t own = dimension - (rank - static_cast<int64_t>(shape.size()));
  return own < 0 ? 1 : shape[own];
}

static int64_t maximumRank(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  return static_cast<int64_t>(rank);
}

// A static size other than 1 wins, then `?`, then 1.
static FailureOr<int64_t> joinSizes(int64_t lhs, int64_t rhs) {
  if (lhs == rhs || rhs == 1)
    return lhs;
  if (lhs == 1 || ShapedType::isDynamic(lhs))
    return rhs;
  if (ShapedType::isDynamic(rhs))
    return lhs;
  return failure();
}

FailureOr<SmallVector<int64_t>> ad::inferBroadcastShape(ArrayRef<ArrayRef<int64_t>> shapes,
                                                        int64_t *conflict) {
  int64_t rank = maximumRank(shapes);
  SmallVector<int64_t> result(rank, 1);
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    for (ArrayRef<int64_t> shape : shapes) {
      FailureOr<int64_t> size = joinSizes(result[dimension], alignedSize(shape, rank, dimension));
      if (failed(size)) {
        if (conflict)
          *conflict = dimension;
        return failure();
      }
      result[dimension] = *size;
    }
  return result;
}

static SmallVector<ArrayRef<int64_t>> shapesOf(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return cast<RankedTensorType>(type).getShape(); });
}

FailureOr<SmallVector<int64_t>> ad::inferBroadcastShape(ValueRange operands, int64_t *conflict) {
  return inferBroadcastShape(shapesOf(operands.getTypes()), conflict);
}

std::string ad::describeBroadcastConflict(ArrayRef<ArrayRef<int64_t>> shapes, int64_t conflict) {
  int64_t rank = maximumRank(shapes);
  SmallVector<int64_t> sizes;
  for (ArrayRef<int64_t> shape : shapes) {
    int64_t size = alignedSize(shape, rank, conflict);
    if (size != 1 && !ShapedType::isDynamic(size) && !llvm::is_contained(sizes, size))
      sizes.push_back(size);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "dimension " << conflict << " has sizes ";
  llvm::interleave(sizes, stream, " and ");
  return text;
}

LogicalResult ad::inferBroadcastType(std::optional<Location> location, StringRef opName, ValueRange operands,
                                     unsigned firstData, bool booleanResult, SmallVectorImpl<Type> &types) {
  if (operands.size() <= firstData || !llvm::all_of(operands.getTypes(), llvm::IsaPred<RankedTensorType>))
    return emitOptionalError(location, "'", opName, "' op expected ranked tensors as operands");
  // binary_c1, compare_c1, select_c1, clamp_c1, fma_c1: one element type.
  Type element = getElementTypeOrSelf(operands[firstData].getType());
  for (Value operand : operands.drop_front(firstData))
    if (Type other = getElementTypeOrSelf(operand.getType()); other != element)
      return emitOptionalError(location, "'", opName, "' op expected operands of one element type, but got ",
                               element, " and ", other, "; convert one with ad.cast");
  // binary_c2, compare_c2, select_c2, clamp_c2, fma_c2: the shapes broadcast.
  int64_t conflict = 0;
  FailureOr<SmallVector<int64_t>> shape = inferBroadcastShape(operands, &conflict);
  if (failed(shape))
    return emitOptionalError(location, "'", opName, "' op operand shapes do not broadcast: ",
                             describeBroadcastConflict(shapesOf(operands.getTypes()), conflict));
  types.push_back(
      RankedTensorType::get(*shape, booleanResult ? IntegerType::get(element.getContext(), 1) : element));
  return success();
}

// Parses one type for all operands or one per operand. The element types of data operands agree.
static ParseResult parseTensorTypes(OpAsmParser &parser, SMLoc location, size_t count, unsigned firstData,
                                    SmallVectorImpl<Type> &types) {
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() != 1 && types.size() != count)
    return parser.emitError(location)
           << "expected one type or " << count << " types, but got " << types.size();
  for (Type type : types)
    if (!isa<RankedTensorType>(type))
      return parser.emitError(location)
             << "expected a ranked tensor, but got " << type
             << (type.isIntOrIndexOrFloat() ? "; make a tensor of a scalar with ad.full" : "");
  bool sharesType = firstData == 0 || getElementTypeOrSelf(types.front()).isInteger(1);
  if (types.size() == 1 && !sharesType)
    return parser.emitError(location)
           << "expected " << count << " types, first that of the condition, but got " << types.front();
  types.resize(count, types.front());
  // binary_c1 and the like, here and not in the verifier alone: a wrong result type would be reported where
  // the result is used.
  Type data = getElementTypeOrSelf(types[firstData]);
  for (Type type : ArrayRef<Type>(types).drop_front(firstData))
    if (Type other = getElementTypeOrSelf(type); other != data)
      return parser.emitError(location) << "expected operands of one element type, but got " << data
                                        << " and " << other << "; convert one with ad.cast";
  return success();
}

// Parses the types of the operands and infers the result, with the element type of the last operand.
static ParseResult parseOperandTypes(OpAsmParser &parser, ArrayRef<Type *> operands, Type &result,
                                     bool boolean, unsigned firstData = 0) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parseTensorTypes(parser, location, operands.size(), firstData, types))
    return failure();
  for (auto [operand, type] : llvm::zip_equal(operands, types))
    *operand = type;

  int64_t conflict = 0;
  SmallVector<ArrayRef<int64_t>> shapes = shapesOf(types);
  FailureOr<SmallVector<int64_t>> shape = inferBroadcastShape(shapes, &conflict);
  if (failed(shape)) {
    InFlightDiagnostic error = parser.emitError(location)
                               << "operand shapes do not broadcast: "
                               << describeBroadcastConflict(shapes, conflict) << ", in ";
    llvm::interleave(types, error, " and ");
    return error;
  }
  Type element =
      boolean ? parser.getBuilder().getI1Type() : cast<RankedTensorType>(types.back()).getElementType();
  result = RankedTensorType::get(*shape, element);
  return parseNoResultType(parser);
}

static void printOperandTypes(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types))
    printer << types.front();
  else
    llvm::interleaveComma(types, printer);
}

ParseResult ad::parseBroadcastTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  return parseOperandTypes(parser, {&lhs, &rhs}, result, /*boolean=*/false);
}

void ad::printBroadcastTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type) {
  printOperandTypes(printer, {lhs, rhs});
}

ParseResult ad::parseCompareTypes(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  return parseOperandTypes(parser, {&lhs, &rhs}, result, /*boolean=*/true);
}

void ad::printCompareTypes(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type) {
  printOperandTypes(printer, {lhs, rhs});
}

ParseResult ad::parseTernaryTypes(OpAsmParser &parser, Type &first, Type &second, Type &third, Type &result) {
  return parseOperandTypes(parser, {&first, &second, &third}, result, /*boolean=*/false);
}

void ad::printTernaryTypes(OpAsmPrinter &printer, Operation *, Type first, Type second, Type third, Type) {
  printOperandTypes(printer, {first, second, third});
}

ParseResult ad::parseSelectTypes(OpAsmParser &parser, Type &condition, Type &onTrue, Type &onFalse,
                                 Type &result) {
  return parseOperandTypes(parser, {&condition, &onTrue, &onFalse}, result, /*boolean=*/false,
                           /*firstData=*/1);
}

void ad::printSelectTypes(OpAsmPrinter &printer, Operation *, Type condition, Type onTrue, Type onFalse,
                          Type) {
  printOperandTypes(printer, {condition, onTrue, onFalse});
}
