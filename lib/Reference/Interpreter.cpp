// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls, blocks and the entry of the reference interpreter.

#include "Interpreter.h"
#include "Kernels.h"
#include "adjoint/Reference/Reference.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/LocationText.h"
#include "adjoint/Support/MemoryLimit.h"
#include "adjoint/Support/OutOfMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad::reference;

// Each call of a program uses some stack of the interpreter.
static constexpr int64_t maxDepth = 1000;

//===- Locations -------------------------------------------------------===//

Site::Site(Location loc, StringRef name) : location(ad::locationText(loc)), operation(name) {
  site = {location.c_str(), operation.c_str()};
}

//===- Frames ----------------------------------------------------------===//

SmallVector<int64_t> Frame::indices(ValueRange range) const {
  SmallVector<int64_t> result;
  for (Value value : range)
    result.push_back(index(value));
  return result;
}

SmallVector<Tensor> Frame::all(ValueRange range) const {
  SmallVector<Tensor> result;
  for (Value value : range)
    result.push_back((*this)[value]);
  return result;
}

int32_t Frame::fail(Operation *op, adrt_failure kind, ArrayRef<int64_t> numbers) {
  return adrt_fail(run.context, Site(op).get(), kind, numbers.data(), static_cast<int32_t>(numbers.size()));
}

int32_t Frame::refuse(Operation *op, const Twine &why) {
  op->emitOpError(why);
  return ADRT_PROGRAM_ERROR;
}

int32_t Frame::checkMemory(Operation *op, ElementType type, ArrayRef<int64_t> shape) {
  int64_t bytes =
      adrt::byteSize(static_cast<int32_t>(type), static_cast<int32_t>(shape.size()), shape.data());
  if (bytes >= 0 && adrt::fitsMemory(bytes))
    return ADRT_OK;
  return run.context->fail(ADRT_TARGET_ERROR, Site(op).get(),
                           "not enough memory for a tensor of " + (bytes < 0
                                                                       ? std::string("unrepresentable size")
                                                                       : adrt::describeLackOfMemory(bytes)));
}

int32_t Frame::shape(Operation *op, RankedTensorType type, ValueRange sizes,
                     SmallVectorImpl<int64_t> &shape) {
  shape.assign(type.getShape().begin(), type.getShape().end());
  unsigned next = 0;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(size))
      continue;
    size = index(sizes[next++]);
    if (size < 0)
      return fail(op, ADRT_FAIL_NEGATIVE, {static_cast<int64_t>(axis), size});
  }
  return checkMemory(op, *elementTypeOf(type), shape);
}

// What a type says about sizes holds at run time, whichever operand it was inferred from.
int32_t Frame::checkResults(Operation *op) {
  for (Value result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    ArrayRef<int64_t> shape = (*this)[result].getShape();
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (!type.isDynamicDim(axis) && type.getDimSize(axis) != shape[axis])
        return fail(op, ADRT_FAIL_SAME_SIZE, {axis, type.getDimSize(axis), shape[axis]});
  }
  return ADRT_OK;
}

static bool hasInterface(Operation *op) {
  return isa<ad::ElementwiseOpInterface, ad::ReductionOpInterface, ad::LoopNestOpInterface,
             ad::OrderedWriteOpInterface, ad::NamedKernelOpInterface>(op);
}

static int32_t runByInterface(Operation *op, Frame &frame) {
  if (auto elementwise = dyn_cast<ad::ElementwiseOpInterface>(op))
    return runElementwise(elementwise, frame);
  if (auto nest = dyn_cast<ad::LoopNestOpInterface>(op))
    return runLoopNest(nest, frame);
  if (auto write = dyn_cast<ad::OrderedWriteOpInterface>(op))
    return runOrderedWrite(write, frame);
  if (auto kernel = dyn_cast<ad::NamedKernelOpInterface>(op))
    return runNamedKernel(kernel, frame);
  return runReduction(cast<ad::ReductionOpInterface>(op), frame);
}

int32_t Frame::runOperation(Operation *op) {
  const Semantics::Function *semantics = run.semantics.find(op);
  if (!semantics && !hasInterface(op))
    return refuse(
        op, "is not an operation that the reference interpreter runs; compiled targets may: cpu or gpu-sim");
  if (int32_t status = adrt_poll(run.context))
    return status;
  SmallVector<Tensor> operands;
  if (run.observer) // before it runs: an operation of a loop may replace the values of its operands
    operands = all(op->getOperands());
  try {
    runner::CatchLackOfMemory catching;
    if (int32_t status = semantics ? (*semantics)(op, *this) : runByInterface(op, *this))
      return status;
  } catch (const std::bad_alloc &) {
    return run.context->fail(ADRT_TARGET_ERROR, Site(op).get(),
                             "not enough memory for what the operation makes");
  }
  if (int32_t status = checkResults(op))
    return status;
  return run.observer ? observe(op, operands) : ADRT_OK;
}

int32_t Frame::observe(Operation *op, ArrayRef<Tensor> operands) {
  SmallVector<Tensor> results = all(op->getResults());
  if (int32_t status = run.observer->replaceResults(op, results))
    return status;
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results))
    set(result, tensor);
  return run.observer->ran(op, operands, results);
}

// Code that an operation makes to run itself is in no region: it is no part of the program, which alone the
// observer sees.
int32_t Frame::runBlock(Block &block, ArrayRef<Tensor> arguments, SmallVectorImpl<Tensor> &yielded) {
  llvm::SaveAndRestore<Observer *> shown(run.observer, block.getParent() ? run.observer : nullptr);
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    set(argument, tensor);
  for (Operation &op : block.without_terminator())
    if (int32_t status = runOperation(&op))
      return status;
  SmallVector<Tensor> results = all(block.getTerminator()->getOperands());
  yielded.assign(results.begin(), results.end());
  return ADRT_OK;
}

//===- Calls -----------------------------------------------------------===//

Interpreter::Interpreter(ModuleOp module, adrt_context *context, Observer *observer)
    : module(module), context(context), observer(observer) {
  registerElementwise(semantics);
  registerCreation(semantics);
  registerShape(semantics);
  registerContraction(semantics);
  registerReduction(semantics);
  registerNN(semantics);
  registerSorting(semantics);
  registerConvolution(semantics);
  registerHost(semantics);
  registerControl(semantics);
  registerScalars(semantics);
  registerKernels(semantics);
  registerKernelScalars(semantics);
}

static int32_t refuseFunction(Operation *op, const Twine &why) {
  op->emitError(why);
  return ADRT_PROGRAM_ERROR;
}

int32_t Interpreter::call(Operation *caller, StringRef callee, ArrayRef<Tensor> arguments,
                          SmallVectorImpl<Tensor> &results) {
  auto function = symbols.lookupSymbolIn<func::FuncOp>(module, StringAttr::get(module.getContext(), callee));
  if (!function)
    return refuseFunction(caller, "no function @" + callee + " in this module");
  if (function.isExternal())
    return refuseFunction(function, "expected '" + callee + "' to have a body");
  if (!function.getBody().hasOneBlock())
    return refuseFunction(function.front().getTerminator(),
                          "the reference interpreter runs structured control flow only; write scf.if, "
                          "scf.for or scf.while instead");
  if (depth == maxDepth)
    return refuseFunction(caller, "calls nest deeper than " + Twine(maxDepth));
  ++depth;
  Frame frame(*this);
  int32_t status = frame.runBlock(function.front(), arguments, results);
  --depth;
  return status;
}

//===- Entry -----------------------------------------------------------===//

/// Compares an argument with its type; failures carry -1 for the element type and -2 for the rank.
static int32_t checkArgument(func::FuncOp entry, adrt_context *context, int64_t number, Type type,
                             const adrt_tensor &argument) {
  auto fail = [&](int64_t what, int64_t expected, int64_t actual) {
    int64_t numbers[] = {number, what, expected, actual};
    return adrt_fail(context, Site(entry).get(), ADRT_FAIL_ARGUMENT, numbers, 4);
  };
  std::optional<ElementType> element = elementTypeOf(type);
  if (!element)
    return refuseFunction(entry, "argument " + Twine(number) + " has a type without values in the runtime");
  if (static_cast<int32_t>(*element) != argument.type)
    return fail(-1, static_cast<int64_t>(*element), argument.type);
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t rank = tensor ? tensor.getRank() : 0;
  if (rank != argument.rank)
    return fail(-2, rank, argument.rank);
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!tensor.isDynamicDim(axis) && tensor.getDimSize(axis) != argument.shape[axis])
      return fail(axis, tensor.getDimSize(axis), argument.shape[axis]);
  return ADRT_OK;
}

static int32_t copyArguments(func::FuncOp entry, adrt_context *context, ArrayRef<adrt_tensor> arguments,
                             SmallVectorImpl<Tensor> &inputs) {
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    if (int32_t status = checkArgument(entry, context, number, entry.getArgumentTypes()[number], argument))
      return status;
    try {
      inputs.push_back(Tensor::copyOf(argument));
    } catch (const std::bad_alloc &) {
      return context->fail(ADRT_TARGET_ERROR, Site(entry).get(), "not enough memory for the arguments");
    }
  }
  return ADRT_OK;
}

static int32_t handOver(adrt_context *context, ArrayRef<Tensor> values,
                        MutableArrayRef<adrt_tensor> results) {
  for (auto [number, value] : llvm::enumerate(values)) {
    void *data = adrt_result(context, &results[number], static_cast<int32_t>(number),
                             static_cast<int32_t>(value.getType()), static_cast<int32_t>(value.getRank()),
                             value.getShape().data());
    if (!data)
      return ADRT_TARGET_ERROR;
    if (int64_t size = value.getNumBytes())
      std::memcpy(data, value.bytes(), size);
  }
  return ADRT_OK;
}

int32_t mlir::ad::runReference(ModuleOp module, StringRef name, adrt_context *context,
                               ArrayRef<adrt_tensor> arguments, MutableArrayRef<adrt_tensor> results,
                               Observer *observer) {
  adrt::FloatingPointScope floatingPoint;
  auto entry = module.lookupSymbol<func::FuncOp>(name);
  if (!entry)
    return refuseFunction(module, "no function @" + name + " in this module");
  FunctionType type = entry.getFunctionType();
  if (type.getNumInputs() != arguments.size() || type.getNumResults() != results.size())
    return refuseFunction(entry, "@" + name + " has " + Twine(type.getNumInputs()) + " arguments and " +
                                     Twine(type.getNumResults()) + " results, but got " +
                                     Twine(arguments.size()) + " and " + Twine(results.size()));
  SmallVector<Tensor> inputs, outputs;
  if (int32_t status = copyArguments(entry, context, arguments, inputs))
    return status;
  Interpreter interpreter(module, context, observer);
  if (int32_t status = interpreter.call(entry, name, inputs, outputs))
    return status;
  if (observer)
    observer->returned(outputs);
  return handOver(context, outputs, results);
}
