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
int32_t ValueRecorder::ran(Operation *op, ArrayRef<Tensor> operands, ArrayRef<Tensor> results) {
  if (!block->findAncestorOpInBlock(*op))
    return ADRT_OK;
  for (auto [value, tensor] : llvm::zip_equal(op->getOperands(), operands))
    keep(value, tensor);
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results))
    keep(value, tensor);
  return ADRT_OK;
}

void ValueRecorder::keep(Value value, const Tensor &tensor) {
  if (!value.getParentRegion()->isAncestor(block->getParent()))
    return; // of a nested region
  if (occasion == Occasion::First)
    values.try_emplace(value, tensor);
  else
    values[value] = tensor;
}

const Tensor *ValueRecorder::find(Value value) const {
  auto found = values.find(value);
  return found == values.end() ? nullptr : &found->second;
}

//===- Slices ---------------------------------------------------------------===//

static bool isConstant(Operation *op) { return op && matchPattern(op, m_Constant()); }

std::vector<Operation *> mlir::ad::diff::sliceUnits(Block &block) {
  std::vector<Operation *> units;
  for (Operation &op : block.without_terminator())
    if (op.getNumResults() > 0 && !isConstant(&op) && !isa<FeedOp>(op))
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

namespace {

class SliceBuilder {
public:
  SliceBuilder(func::FuncOp entry, ArrayRef<Operation *> operations, const ValueRecorder &values)
      : entry(entry), operations(operations), values(values), builder(entry.getContext()) {}

  ProgramSlice build();

private:
  func::FuncOp makeFunction();
  void add(Operation *op);
  LogicalResult provide(Value value);
  bool isReadOutside(Value value);
  void addReturn();

  func::FuncOp entry;
  ArrayRef<Operation *> operations;
  const ValueRecorder &values;
  OpBuilder builder;
  func::FuncOp function;
  IRMapping mapping;
  ProgramSlice slice;
  bool complete = true;
};

// Functions that are still called come along, and so do the contracts of module and entry.
func::FuncOp SliceBuilder::makeFunction() {
  auto source = entry->getParentOfType<ModuleOp>();
  slice.module = ModuleOp::create(source.getLoc());
  (*slice.module)->setAttrs(source->getAttrs());
  builder.setInsertionPointToStart(slice.module->getBody());
  for (Operation &op : source.getOps())
    if (&op != entry)
      builder.clone(op);
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
  slice.arguments.push_back({name, *tensor});
  return success();
}

void SliceBuilder::add(Operation *op) {
  llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  for (Value value : needed)
    if (failed(provide(value))) {
      complete = false;
      return;
    }
  builder.clone(*op, mapping);
}

bool SliceBuilder::isReadOutside(Value value) {
  Block *block = operations.front()->getBlock();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return !llvm::is_contained(operations, block->findAncestorOpInBlock(*user));
  });
}

void SliceBuilder::addReturn() {
  SmallVector<Value> results;
  SmallVector<Type> types;
  for (Operation *op : operations)
    for (Value value : op->getResults())
      if (isa<ShapedType>(value.getType()) && isReadOutside(value)) {
        results.push_back(mapping.lookup(value));
        types.push_back(value.getType());
      }
  if (results.empty()) {
    complete = false;
    return;
  }
  func::ReturnOp::create(builder, entry.getLoc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), types));
  for (unsigned index = 0; index < results.size(); ++index)
    function.setResultAttr(index, "ad.name", builder.getStringAttr("r" + Twine(index)));
}

ProgramSlice SliceBuilder::build() {
  if (operations.empty())
    return {};
  function = makeFunction();
  for (Operation *op : operations)
    if (complete)
      add(op);
  if (complete)
    addReturn();
  return complete ? std::move(slice) : ProgramSlice();
}

} // namespace

ProgramSlice mlir::ad::diff::makeSlice(func::FuncOp entry, ArrayRef<Operation *> operations,
                                       const ValueRecorder &values) {
  return SliceBuilder(entry, operations, values).build();
}
