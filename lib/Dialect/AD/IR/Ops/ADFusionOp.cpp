// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad.fusion: assembly, verifier and the sizes of its results, which follow from the operations in its region.

#include "../ShapeUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;

//===- Assembly -===//

// ad.fusion kind (%a = %x, …) {attributes} : (types) -> types { … }
ParseResult FusionOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<FusionKind> kind = symbolizeFusionKind(word);
  if (!kind)
    return parser.emitError(loc, "expected elementwise, dot, reduce or movement, but got '") << word << "'";
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Type> inputTypes;
  SMLoc inputsLoc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(arguments, inputs))
    return failure();
  SMLoc attributesLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes) ||
      failed(verifyInherentAttrs(result.name, result.attributes,
                                 [&] { return parser.emitError(attributesLoc) << "'ad.fusion' op "; })) ||
      parser.parseColon() || parseSignature(parser, inputTypes, result.types) ||
      parser.resolveOperands(inputs, inputTypes, inputsLoc, result.operands))
    return failure();
  result.addAttribute(getKindAttrName(result.name), FusionKindAttr::get(parser.getContext(), *kind));
  for (auto [argument, type] : llvm::zip_equal(arguments, inputTypes))
    argument.type = type;
  return parser.parseRegion(*result.addRegion(), arguments);
}

void FusionOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyFusionKind(getKind()) << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()), printer, [&](auto pair) {
    printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
    printer << " = " << std::get<1>(pair);
  });
  printer << ")";
  printer.printOptionalAttrDict((*this)->getAttrs(), {getKindAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult FusionOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes()) // fusion_c1
    return emitOpError("expected region arguments of types ")
           << getInputs().getTypes() << ", but got " << block.getArgumentTypes();
  auto yield = dyn_cast_if_present<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield) // fusion_c2
    return emitOpError("expected a region that ends with ad.yield");
  if (yield.getOperandTypes() != getResultTypes()) // fusion_c3
    return emitOpError("expected results of types ")
           << yield.getOperandTypes() << ", as ad.yield has, but got " << getResultTypes();
  return success();
}

//===- Sizes -===//

namespace {
// Sizes of values in the region, computed before the fusion. Operations of the region say their sizes in
// terms of values of the region; these index computations are built in a block of no function and carried out
// one by one, with sizes of inner tensors resolved recursively.
class SizesOutside {
public:
  SizesOutside(OpBuilder &builder, FusionOp fusion) : builder(builder), fusion(fusion) {}

  FailureOr<OpFoldResult> size(Value tensor, int64_t dimension);

private:
  FailureOr<OpFoldResult> sizeOfInner(OpResult tensor, int64_t dimension);
  FailureOr<Value> carryOut(Value index);
  FailureOr<Value> carryOutOperation(Operation *op, unsigned result);

  bool isOutside(Value value) {
    Region *region = value.getParentRegion();
    return region && !fusion.getBody().isAncestor(region);
  }

  OpBuilder &builder;
  FusionOp fusion;
  DenseMap<std::pair<Value, int64_t>, OpFoldResult> known;
};
} // namespace

FailureOr<OpFoldResult> SizesOutside::size(Value tensor, int64_t dimension) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || dimension < 0 || dimension >= type.getRank())
    return failure();
  if (!type.isDynamicDim(dimension))
    return OpFoldResult(builder.getIndexAttr(type.getDimSize(dimension)));
  if (isOutside(tensor))
    return sizeOf(builder, fusion.getLoc(), tensor, dimension);
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    if (argument.getOwner() != &fusion.getBody().front())
      return failure();
    return sizeOf(builder, fusion.getLoc(), fusion.getInputs()[argument.getArgNumber()], dimension);
  }
  // Results are kept: a chain of operations with two operands would otherwise be walked exponentially often.
  std::pair<Value, int64_t> key(tensor, dimension);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  FailureOr<OpFoldResult> computed = sizeOfInner(cast<OpResult>(tensor), dimension);
  if (succeeded(computed))
    known[key] = *computed;
  return computed;
}

FailureOr<OpFoldResult> SizesOutside::sizeOfInner(OpResult tensor, int64_t dimension) {
  auto op = dyn_cast<ReifyRankedShapedTypeOpInterface>(tensor.getOwner());
  if (!op)
    return failure();
  Block scratch;
  OpBuilder inner(builder.getContext());
  inner.setInsertionPointToEnd(&scratch);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(inner, shapes)))
    return failure();
  OpFoldResult size = shapes[tensor.getResultNumber()][dimension];
  if (isa<Attribute>(size))
    return size;
  FailureOr<Value> value = carryOut(cast<Value>(size));
  if (failed(value))
    return failure();
  return OpFoldResult(*value);
}

FailureOr<Value> SizesOutside::carryOut(Value index) {
  if (isOutside(index))
    return index;
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    if (argument.getOwner() != &fusion.getBody().front())
      return failure();
    return Value(fusion.getInputs()[argument.getArgNumber()]);
  }
  return carryOutOperation(index.getDefiningOp(), cast<OpResult>(index).getResultNumber());
}

FailureOr<Value> SizesOutside::carryOutOperation(Operation *op, unsigned result) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> dimension = dim.getConstantIndex();
    if (!dimension || *dimension < 0 ||
        *dimension >= cast<RankedTensorType>(dim.getSource().getType()).getRank())
      return failure();
    FailureOr<OpFoldResult> size = this->size(dim.getSource(), *dimension);
    if (failed(size))
      return failure();
    return getValueOrCreateConstantIndexOp(builder, fusion.getLoc(), *size);
  }
  if (!isPure(op) || op->getNumRegions() != 0)
    return failure();
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> outside = carryOut(operand);
    if (failed(outside))
      return failure();
    mapping.map(operand, *outside);
  }
  return builder.clone(*op, mapping)->getResult(result);
}

LogicalResult FusionOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SizesOutside outside(builder, *this);
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  for (auto [value, result] : llvm::zip_equal(yield.getValues(), getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> sizes;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      FailureOr<OpFoldResult> size = outside.size(value, dimension);
      if (failed(size))
        return failure();
      sizes.push_back(*size);
    }
    shapes.push_back(normalizeSizes(builder, getLoc(), type, sizes));
  }
  return success();
}
