// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels, launches and the scalar operations inside kernels. Labels are those of docs/spec/kernels.md.

#include "../Destinations.h"
#include "../ShapeUtils.h"
#include "adjoint/Numerics/Elementary.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::ad;

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADKernelOps.cpp.inc"

void ADDialect::registerKernelOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADKernelOps.cpp.inc"
      >();
}

//===- ad.kernel -===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  SMLoc loc = parser.getCurrentLocation();
  if (function_interface_impl::parseFunctionOp(
          parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
          getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name)))
    return failure();
  return verifyInherentAttrs(result.name, result.attributes,
                             [&] { return parser.emitError(loc) << "'ad.kernel' op "; });
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

// kernel_c1, that the block has the arguments of the type, is part of FunctionOpInterface.
LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  auto yield = dyn_cast_if_present<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield) // kernel_c2
    return emitOpError("expected a body that ends with ad.yield");
  if (yield.getOperandTypes() != TypeRange(getResultTypes())) // kernel_c3
    return emitOpError("expected results of types ")
           << yield.getOperandTypes() << ", as ad.yield has, but got " << TypeRange(getResultTypes());
  return success();
}

//===- ad.launch -===//

// Tensors become memrefs in memory planning, on both sides at different times: element type and sizes stay
// comparable.
static bool mayDescribeSameValue(Type given, Type expected) {
  auto left = dyn_cast<ShapedType>(given), right = dyn_cast<ShapedType>(expected);
  if (!left || !right)
    return given == expected;
  if (isa<RankedTensorType>(given) && isa<RankedTensorType>(expected))
    return given == expected;
  return left.getElementType() == right.getElementType() && left.hasRank() && right.hasRank() &&
         left.getRank() == right.getRank() &&
         llvm::all_of(llvm::zip(left.getShape(), right.getShape()),
                      [](auto pair) { return maySizesAgree(std::get<0>(pair), std::get<1>(pair)); });
}

static LogicalResult verifyLaunchTypes(LaunchOp op, TypeRange given, TypeRange expected, StringRef what) {
  if (given.size() != expected.size())
    return op.emitOpError("expected ") << expected.size() << " " << what << "s, as " << op.getKernelAttr()
                                       << " has, but got " << given.size();
  for (auto [index, types] : llvm::enumerate(llvm::zip_equal(given, expected)))
    if (!mayDescribeSameValue(std::get<0>(types), std::get<1>(types)))
      return op.emitOpError("expected ")
             << what << " " << index << " of type " << std::get<1>(types) << ", as " << op.getKernelAttr()
             << " has, but got " << std::get<0>(types);
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // After ad-emit-cpu the kernel is a function over pointers, whose signature convert-host-to-llvm knows.
  if (symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr()))
    return success();
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel) // launch_c1
    return emitOpError("expected ") << getKernelAttr() << " to be an ad.kernel";
  if (failed(
          verifyLaunchTypes(*this, getInputs().getTypes(), kernel.getArgumentTypes(), "input"))) // launch_c2
    return failure();
  return verifyLaunchTypes(*this, getResultTypes(), kernel.getResultTypes(), "result"); // launch_c3
}

LogicalResult LaunchOp::verify() {
  if (!getDestinations().empty() && getDestinations().size() != getNumResults()) // launch_c4
    return emitOpError("expected one destination for each of ")
           << getNumResults() << " results, but got " << getDestinations().size();
  if (failed(verifyDestinations(*this, getDestinations())))
    return failure();
  size_t dynamic = 0;
  for (Type type : getResultTypes())
    dynamic += cast<RankedTensorType>(type).getNumDynamicDims();
  if (dynamic != getSizes().size()) // launch_c5
    return emitOpError("expected one size for each of ")
           << dynamic << " dynamic dimensions, but got " << getSizes().size();
  std::optional<ArrayRef<int64_t>> tied = getTied();
  if (!tied)
    return success();
  if (tied->size() != getNumResults()) // launch_c6
    return emitOpError("expected one tied input, or -1, for each of ")
           << getNumResults() << " results, but got " << tied->size();
  for (int64_t input : *tied)
    if (input < -1 || input >= static_cast<int64_t>(getInputs().size())) // launch_c6
      return emitOpError("expected tied inputs below ") << getInputs().size() << ", or -1, but got " << input;
  return success();
}

//===- Scalars -===//

LogicalResult ElementaryOp::verify() {
  bool binary = numerics::isBinary(getFunction());
  size_t expected = binary ? 2 : 1;
  if (getInputs().size() != expected) // elementary_c1
    return emitOpError("expected ") << expected << (binary ? " operands of " : " operand of ")
                                    << StringRef(numerics::elementaryName(getFunction())) << ", but got "
                                    << getInputs().size();
  bool hasShortForm = numerics::hasApproximation(getFunction());
  if (getApproximate() && (!hasShortForm || !getElementTypeOrSelf(getType()).isF32())) // elementary_c2
    return emitOpError("expected tanh, erf, sigmoid, silu, gelu or gelu_tanh of f32 to be approximate");
  return success();
}

// The element types of tensors, which are all that kernels compute with.
static bool isElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && llvm::is_contained({1u, 8u, 32u, 64u}, integer.getWidth());
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(type);
}

LogicalResult ConvertOp::verify() {
  for (Type type : {getInput().getType(), getType()})
    if (!isElement(getElementTypeOrSelf(type)) || isa<TensorType, BaseMemRefType>(type)) // convert_c1
      return emitOpError("expected element types of tensors, or vectors of them, but got ") << type;
  auto from = dyn_cast<VectorType>(getInput().getType()), to = dyn_cast<VectorType>(getType());
  bool same = from && to ? from.getShape() == to.getShape() && from.getScalableDims() == to.getScalableDims()
                         : !from && !to;
  if (!same) // convert_c2
    return emitOpError("expected scalars or vectors of one shape, but got ")
           << getInput().getType() << " and " << getType();
  return success();
}

//===- Conditions ---------------------------------------------------------===//

bool RequireOp::isOneOrHasOne(Operation *op) {
  if (op->getNumResults() > 0)
    return false;
  return op->walk([](RequireOp) { return WalkResult::interrupt(); }).wasInterrupted();
}
