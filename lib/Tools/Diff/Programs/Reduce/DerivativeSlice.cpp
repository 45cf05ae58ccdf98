// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivatives of single operations as programs.
#include "ProgramSlice.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Interfaces/DifferentiableOpInterface.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ad::diff;

static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

/// The operands that are arguments of the function of `op`: constants stay in it, since folders need them.
static llvm::SetVector<Value> argumentsOf(Operation *op) {
  llvm::SetVector<Value> arguments;
  for (Value operand : op->getOperands())
    if (!isConstant(operand.getDefiningOp()))
      arguments.insert(operand);
  return arguments;
}

static SmallVector<int64_t> differentiableArguments(Operation *op) {
  auto differentiable = cast<mlir::ad::DifferentiableOpInterface>(op);
  SmallVector<int64_t> numbers;
  llvm::SetVector<Value> arguments = argumentsOf(op);
  for (size_t number = 0; number < arguments.size(); ++number) {
    Value argument = arguments[number];
    if (isFloatTensor(argument.getType()) && llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
          return operand.get() == argument && differentiable.isDifferentiable(operand.getOperandNumber());
        }))
      numbers.push_back(static_cast<int64_t>(number));
  }
  return numbers;
}

bool mlir::ad::diff::hasDerivative(Operation *op) {
  return isa<DifferentiableOpInterface>(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperandTypes(), isStaticTensor) &&
         llvm::all_of(op->getResultTypes(), isStaticTensor) &&
         llvm::any_of(op->getResultTypes(), isFloatTensor) && !differentiableArguments(op).empty();
}

namespace {

class DerivativesBuilder {
public:
  DerivativesBuilder(func::FuncOp entry, const BlockValues &values)
      : entry(entry), values(values), builder(entry.getContext()) {
    slice.module = cloneWithoutEntry(entry);
    builder.setInsertionPointToEnd(slice.module->getBody());
    main = func::FuncOp::create(builder, entry.getLoc(), entry.getName(), builder.getFunctionType({}, {}));
    for (NamedAttribute attribute : entry->getDiscardableAttrs())
      main->setAttr(attribute.getName(), attribute.getValue());
    main.addEntryBlock();
  }

  void add(size_t number, Operation *op);
  ProgramSlice finish();

private:
  func::FuncOp makeFunction(size_t number, Operation *op);
  Value addArgument(Value value, ProgramSlice::Argument argument);

  func::FuncOp entry, main;
  const BlockValues &values;
  OpBuilder builder;
  ProgramSlice slice;
  SmallVector<Value> results;
};

// Functions come before the entry, whose block stays open.
func::FuncOp DerivativesBuilder::makeFunction(size_t number, Operation *op) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(main);
  llvm::SetVector<Value> arguments = argumentsOf(op);
  SmallVector<Type> types;
  for (Value argument : arguments)
    types.push_back(argument.getType());
  auto function = func::FuncOp::create(builder, op->getLoc(), "operation" + std::to_string(number),
                                       builder.getFunctionType(types, op->getResultTypes()));
  function.setPrivate();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (auto [value, argument] : llvm::zip_equal(arguments, body->getArguments()))
    mapping.map(value, argument);
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      builder.clone(*operand.getDefiningOp(), mapping);
  func::ReturnOp::create(builder, op->getLoc(), builder.clone(*op, mapping)->getResults());
  return function;
}

Value DerivativesBuilder::addArgument(Value value, ProgramSlice::Argument argument) {
  unsigned index = main.getNumArguments();
  argument.name = "v" + std::to_string(index);
  auto attributes =
      builder.getDictionaryAttr(builder.getNamedAttr("ad.name", builder.getStringAttr(argument.name)));
  [[maybe_unused]] LogicalResult added =
      main.insertArgument(index, value.getType(), attributes, value.getLoc());
  assert(succeeded(added) && "an entry that is being written takes any argument");
  slice.arguments.push_back(std::move(argument));
  return main.getArgument(index);
}

void DerivativesBuilder::add(size_t number, Operation *op) {
  llvm::SetVector<Value> inputs = argumentsOf(op);
  if (!llvm::all_of(inputs, [&](Value value) { return values.find(value); }))
    return;
  func::FuncOp function = makeFunction(number, op);
  SmallVector<Value> arguments, cotangents;
  for (Value value : inputs)
    arguments.push_back(addArgument(value, {"", *values.find(value), ""}));
  for (Value value : op->getResults())
    if (isFloatTensor(value.getType()))
      cotangents.push_back(addArgument(value, {"", {}, "normal:" + std::to_string(number)}));
  SmallVector<int64_t> wrt = differentiableArguments(op);
  SmallVector<Type> types(op->getResultTypes());
  for (int64_t argument : wrt)
    types.push_back(inputs[argument].getType());
  builder.setInsertionPointToEnd(&main.front());
  auto product =
      ad::VjpOp::create(builder, op->getLoc(), types, function.getName(), arguments, cotangents, wrt);
  for (Value result : product.getResults().drop_front(op->getNumResults())) {
    results.push_back(result);
    slice.producers.push_back(number);
  }
}

ProgramSlice DerivativesBuilder::finish() {
  if (results.empty())
    return {};
  builder.setInsertionPointToEnd(&main.front());
  func::ReturnOp::create(builder, entry.getLoc(), results);
  main.setType(builder.getFunctionType(main.getArgumentTypes(), ValueRange(results).getTypes()));
  for (unsigned index = 0; index < results.size(); ++index)
    main.setResultAttr(index, "ad.name", builder.getStringAttr("r" + Twine(index)));
  return std::move(slice);
}

} // namespace

ProgramSlice mlir::ad::diff::makeDerivatives(func::FuncOp entry, ArrayRef<OperationGroup> groups,
                                             const BlockValues &values) {
  DerivativesBuilder derivatives(entry, values);
  for (auto [number, group] : llvm::enumerate(groups))
    derivatives.add(number, group.front());
  return derivatives.finish();
}
