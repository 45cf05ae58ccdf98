// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "ProgramSlice.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ad::diff;
using mlir::ad::reference::Tensor;

//===- Recording ------------------------------------------------------------===//

// What operations of nested regions read may be captured from the block.
int32_t BlockValues::ran(Operation *op, ArrayRef<Tensor> operands, ArrayRef<Tensor> results) {
  if (!block->findAncestorOpInBlock(*op))
    return ADRT_OK;
  for (auto [value, tensor] : llvm::zip_equal(op->getOperands(), operands))
    keep(value, tensor);
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results))
    keep(value, tensor);
  return ADRT_OK;
}

void BlockValues::keep(Value value, const Tensor &tensor) {
  if (!value.getParentRegion()->isAncestor(block->getParent()))
    return; // of a nested region
  if (occasion == Occasion::First)
    values.try_emplace(value, tensor);
  else
    values[value] = tensor;
}

const Tensor *BlockValues::find(Value value) const {
  auto found = values.find(value);
  return found == values.end() ? nullptr : &found->second;
}

//===- Slices ---------------------------------------------------------------===//

bool mlir::ad::diff::isConstant(Operation *op) { return op && matchPattern(op, m_Constant()); }

static bool isUnit(Operation *op) {
  return op->getNumResults() > 0 && !isConstant(op) && !isa<mlir::ad::FeedOp>(op);
}

std::vector<Operation *> mlir::ad::diff::sliceUnits(Block &block) {
  std::vector<Operation *> units;
  for (Operation &op : block.without_terminator())
    if (isUnit(&op))
      units.push_back(&op);
  return units;
}

static TypedAttr scalarAttribute(Type type, const Tensor &value) {
  uint64_t bits = 0;
  std::memcpy(&bits, value.bytes(), static_cast<size_t>(value.getNumBytes()));
  if (auto floating = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(floating.getFloatSemantics(),
                                        APInt(floating.getWidth(), bits, false, /*implicitTrunc=*/true)));
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, APInt(width, bits, false, /*implicitTrunc=*/true));
}

// Functions that are still called come along, and so does the contract of the module.
OwningOpRef<ModuleOp> mlir::ad::diff::cloneWithoutEntry(func::FuncOp entry) {
  auto source = entry->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(source.getLoc());
  (*module)->setAttrs(source->getAttrs());
  OpBuilder builder(module->getBodyRegion());
  for (Operation &op : source.getOps())
    if (&op != entry)
      builder.clone(op);
  return module;
}

namespace {

class SliceBuilder {
public:
  SliceBuilder(func::FuncOp entry, ArrayRef<Operation *> operations, const BlockValues &values)
      : entry(entry), operations(operations), values(values), builder(entry.getContext()) {}

  ProgramSlice build();
  ProgramSlice buildIsolated(ArrayRef<OperationGroup> groups);

private:
  func::FuncOp makeFunction();
  /// Gives the operation what it reads; fails if a value was not recorded.
  LogicalResult provideOperands(Operation *op);
  LogicalResult provide(Value value);
  bool isReadOutside(Value value);
  void addResults(size_t number, ValueRange values);
  void addReturn();

  func::FuncOp entry;
  ArrayRef<Operation *> operations;
  const BlockValues &values;
  OpBuilder builder;
  func::FuncOp function;
  IRMapping mapping;
  ProgramSlice slice;
  SmallVector<Value> results;
};

func::FuncOp SliceBuilder::makeFunction() {
  slice.module = cloneWithoutEntry(entry);
  builder.setInsertionPointToEnd(slice.module->getBody());
  auto made = func::FuncOp::create(builder, entry.getLoc(), entry.getName(), builder.getFunctionType({}, {}));
  for (NamedAttribute attribute : entry->getDiscardableAttrs())
    made->setAttr(attribute.getName(), attribute.getValue());
  builder.setInsertionPointToStart(made.addEntryBlock());
  return made;
}

LogicalResult SliceBuilder::provide(Value value) {
  if (mapping.contains(value))
    return success();
  Operation *producer = value.getDefiningOp();
  if (isConstant(producer)) {
    builder.clone(*producer, mapping);
    return success();
  }
  const Tensor *tensor = values.find(value);
  if (!tensor)
    return failure();
  if (!isa<ShapedType>(value.getType())) {
    TypedAttr attribute = scalarAttribute(value.getType(), *tensor);
    mapping.map(value, arith::ConstantOp::create(builder, value.getLoc(), attribute));
    return success();
  }
  unsigned index = function.getNumArguments();
  std::string name = "v" + std::to_string(index);
  auto attributes = builder.getDictionaryAttr(builder.getNamedAttr("ad.name", builder.getStringAttr(name)));
  if (failed(function.insertArgument(index, value.getType(), attributes, value.getLoc())))
    return failure();
  mapping.map(value, function.getArgument(index));
  slice.arguments.push_back({name, *tensor, ""});
  return success();
}

LogicalResult SliceBuilder::provideOperands(Operation *op) {
  llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  return success(llvm::all_of(needed, [&](Value value) { return succeeded(provide(value)); }));
}

bool SliceBuilder::isReadOutside(Value value) {
  Block *block = operations.front()->getBlock();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return !llvm::is_contained(operations, block->findAncestorOpInBlock(*user));
  });
}

void SliceBuilder::addResults(size_t number, ValueRange values) {
  for (Value value : values)
    if (isa<ShapedType>(value.getType())) {
      results.push_back(value);
      slice.producers.push_back(number);
    }
}

void SliceBuilder::addReturn() {
  func::ReturnOp::create(builder, entry.getLoc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(results).getTypes()));
  for (unsigned index = 0; index < results.size(); ++index)
    function.setResultAttr(index, "ad.name", builder.getStringAttr("r" + Twine(index)));
}

ProgramSlice SliceBuilder::build() {
  if (operations.empty())
    return {};
  function = makeFunction();
  for (Operation *op : operations) {
    if (failed(provideOperands(op)))
      return {};
    builder.clone(*op, mapping);
  }
  for (auto [number, op] : llvm::enumerate(operations))
    for (Value value : op->getResults())
      if (isReadOutside(value))
        addResults(number, mapping.lookup(value));
  if (results.empty())
    return {};
  addReturn();
  return std::move(slice);
}

// What is cloned is not in the shared mapping, so no other group reads it.
ProgramSlice SliceBuilder::buildIsolated(ArrayRef<OperationGroup> groups) {
  function = makeFunction();
  for (auto [number, group] : llvm::enumerate(groups)) {
    if (llvm::any_of(group, [&](Operation *op) { return failed(provideOperands(op)); }))
      continue;
    IRMapping own = mapping;
    Operation *last = nullptr;
    for (Operation *op : group)
      last = builder.clone(*op, own);
    addResults(number, last->getResults());
  }
  if (results.empty())
    return {};
  addReturn();
  return std::move(slice);
}

} // namespace

ProgramSlice mlir::ad::diff::makeSlice(func::FuncOp entry, ArrayRef<Operation *> operations,
                                       const BlockValues &values) {
  return SliceBuilder(entry, operations, values).build();
}

ProgramSlice mlir::ad::diff::makeIsolated(func::FuncOp entry, ArrayRef<OperationGroup> groups,
                                          const BlockValues &values) {
  return SliceBuilder(entry, {}, values).buildIsolated(groups);
}
