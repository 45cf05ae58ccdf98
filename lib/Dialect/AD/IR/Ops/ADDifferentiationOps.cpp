// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivatives of functions: the checks of a call against its callee.

#include "../Attributes/TypeDirectives.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::ad;

// The types of the inputs, then those of the cotangents.
static ParseResult parseVjpTypes(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> inputs,
                                 SmallVectorImpl<Type> &inputTypes, SmallVectorImpl<Type> &cotangentTypes,
                                 SmallVectorImpl<Type> &results) {
  SmallVector<Type> operands;
  if (parseSignature(parser, operands, results))
    return failure();
  size_t count = std::min(inputs.size(), operands.size());
  inputTypes.assign(operands.begin(), operands.begin() + count);
  cotangentTypes.assign(operands.begin() + count, operands.end());
  return success();
}

static void printVjpTypes(OpAsmPrinter &printer, Operation *op, OperandRange, TypeRange, TypeRange,
                          TypeRange results) {
  printer.printFunctionalType(op->getOperandTypes(), results);
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADDifferentiationOps.cpp.inc"

void ADDialect::registerDifferentiationOps() {
  addOperations<
#define GET_OP_LIST
#include "adjoint/Dialect/AD/IR/ADDifferentiationOps.cpp.inc"
      >();
}

static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

// value_and_grad_c1, vjp_c1: the symbol is a function.
static func::FuncOp lookupCallee(Operation *op, FlatSymbolRefAttr callee, SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, callee);
  if (!function)
    op->emitOpError("expected ") << callee << " to be a function of the module";
  return function;
}

// value_and_grad_c2, vjp_c2: the inputs are the arguments of the function.
static LogicalResult verifyInputs(Operation *op, func::FuncOp callee, TypeRange inputs) {
  ArrayRef<Type> expected = callee.getFunctionType().getInputs();
  if (inputs.size() != expected.size())
    return op->emitOpError("expected ")
           << expected.size() << " inputs for '" << callee.getSymName() << "', but got " << inputs.size();
  for (auto [index, want, got] : llvm::enumerate(expected, inputs))
    if (want != got)
      return op->emitOpError("expected input ") << index << " to be " << want << ", but got " << got;
  return success();
}

// value_and_grad_c3, vjp_c3: the list names distinct arguments, each a float tensor.
static LogicalResult verifyWrt(Operation *op, TypeRange inputs, ArrayRef<int64_t> wrt) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t index : wrt) {
    if (index < 0 || index >= static_cast<int64_t>(inputs.size()))
      return op->emitOpError("expected wrt to list arguments below ")
             << inputs.size() << ", but got " << index;
    if (!seen.insert(index).second)
      return op->emitOpError("expected distinct arguments in wrt, but got ") << index << " twice";
    if (!isFloatTensor(inputs[index]))
      return op->emitOpError("expected argument ")
             << index << " in wrt to be a tensor of floats, but got " << inputs[index];
  }
  return success();
}

// value_and_grad_c4, vjp_c4: the results are those of the function, then one derivative per listed argument,
// of its type.
static LogicalResult verifyResults(Operation *op, func::FuncOp callee, ArrayRef<int64_t> wrt) {
  SmallVector<Type> expected(callee.getFunctionType().getResults());
  for (int64_t index : wrt)
    expected.push_back(callee.getFunctionType().getInput(index));
  if (expected.size() != op->getNumResults())
    return op->emitOpError("expected ") << expected.size() << " results, those of '" << callee.getSymName()
                                        << "' and one per argument in wrt, but got " << op->getNumResults();
  for (auto [index, want, got] : llvm::enumerate(expected, op->getResultTypes()))
    if (want != got)
      return op->emitOpError("expected result ") << index << " to be " << want << ", but got " << got;
  return success();
}

LogicalResult ValueAndGradOp::verifySymbolUses(SymbolTableCollection &symbols) {
  func::FuncOp callee = lookupCallee(*this, getCalleeAttr(), symbols);
  if (!callee || failed(verifyInputs(*this, callee, getInputs().getTypes())) ||
      failed(verifyWrt(*this, getInputs().getTypes(), getWrt())) ||
      failed(verifyResults(*this, callee, getWrt())))
    return failure();
  // value_and_grad_c5: the value is a float tensor of rank 0.
  ArrayRef<Type> results = callee.getFunctionType().getResults();
  if (results.empty())
    return emitOpError("expected '") << callee.getSymName()
                                     << "' to have a result, the value to differentiate";
  if (!isFloatTensor(results[0]) || cast<RankedTensorType>(results[0]).getRank() != 0)
    return emitOpError("expected the first result of '")
           << callee.getSymName() << "' to be a tensor of rank 0 of floats, but got " << results[0]
           << "; reduce it, for example with ad.reduce_sum";
  // value_and_grad_c6: further results only with has_aux.
  if (results.size() > 1 && !getHasAux())
    return emitOpError("expected has_aux, since '")
           << callee.getSymName() << "' has " << results.size() << " results";
  return success();
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  func::FuncOp callee = lookupCallee(*this, getCalleeAttr(), symbols);
  if (!callee || failed(verifyInputs(*this, callee, getInputs().getTypes())) ||
      failed(verifyWrt(*this, getInputs().getTypes(), getWrt())) ||
      failed(verifyResults(*this, callee, getWrt())))
    return failure();
  // vjp_c5: one cotangent per result that is a float tensor, of its type.
  SmallVector<Type> expected = llvm::filter_to_vector(callee.getFunctionType().getResults(),
                                                      [](Type type) { return isFloatTensor(type); });
  if (expected.size() != getCotangents().size())
    return emitOpError("expected ") << expected.size() << " cotangents, one per result of '"
                                    << callee.getSymName() << "' that is a tensor of floats, but got "
                                    << getCotangents().size();
  for (auto [index, want, got] : llvm::enumerate(expected, getCotangents().getTypes()))
    if (want != got)
      return emitOpError("expected cotangent ") << index << " to be " << want << ", but got " << got;
  return success();
}
