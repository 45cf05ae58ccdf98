// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes records of operations that ran.
#include "adjoint/Runner/Trace/ValueRecorder.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::ad::runner;
using mlir::ad::diff::makeRecord;
using mlir::ad::diff::Record;

namespace {

StringRef findLine(StringRef text, unsigned number) {
  for (unsigned line = 1; line < number && !text.empty(); ++line)
    text = text.split('\n').second;
  return text.split('\n').first;
}

/// `%x` and `%y` of `  %x, %y = ad.op`, before the operation at `column`; a name `%z:2` has two results.
std::string findResultName(StringRef line, unsigned column, unsigned result) {
  StringRef names = line.take_front(column - 1).rtrim();
  if (!names.consume_back("="))
    return "";
  names = names.substr(names.find('%') == StringRef::npos ? names.size() : names.find('%'));
  unsigned first = 0;
  SmallVector<StringRef> parts;
  names.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, count] = part.trim().split(':');
    unsigned group = 1;
    if (!count.empty() && count.getAsInteger(10, group))
      return "";
    if (result < first + group)
      return count.empty() ? name.str() : (name + "#" + Twine(result - first)).str();
    first += group;
  }
  return "";
}

FileLineColLoc findPosition(Location location) {
  FileLineColLoc position;
  location->walk([&](Location part) {
    if (auto found = dyn_cast<FileLineColLoc>(part); found && !position)
      position = found;
    return position ? WalkResult::interrupt() : WalkResult::advance();
  });
  return position;
}

bool isConstant(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

/// Sizes, constants that compute them and conditions about them are no values of the program.
bool isRecorded(Operation *op, unsigned result) {
  Type type = op->getResult(result).getType();
  return isa<RankedTensorType>(type) || (!type.isIndex() && !type.isInteger(1) && !isConstant(op));
}

/// Whether the results are those of operations inside.
bool forwardsResults(Operation *op) { return op->getNumRegions() > 0 || isa<CallOpInterface>(op); }

} // namespace

std::string mlir::ad::runner::shortLocation(Location location) {
  std::string text = mlir::ad::locationText(location);
  return findPosition(location) ? llvm::sys::path::filename(text).str() : text;
}

std::string mlir::ad::runner::valueName(Operation *op, unsigned result, StringRef source) {
  FileLineColLoc position = findPosition(op->getLoc());
  std::string name;
  if (position && position.getColumn() > 0)
    name = findResultName(findLine(source, position.getLine()), position.getColumn(), result);
  return name.empty() ? shortLocation(op->getLoc()) : name;
}

std::string ValueRecorder::uniqueName(Operation *op, unsigned result) {
  std::string &name = names[op->getResult(result)];
  if (!name.empty())
    return name;
  name = valueName(op, result, source);
  unsigned uses = ++nameUses[(op->getName().getStringRef() + " " + Twine(result) + " " + name).str()];
  if (uses > 1)
    name += "(" + std::to_string(uses) + ")";
  return name;
}

void ValueRecorder::add(std::vector<Record> &list, Record record, const adrt_tensor &value) {
  record.hash = ad::diff::contentHash(value);
  if (keep) {
    llvm::Expected<std::string> file = keep(record, value);
    if (file)
      record.value = std::move(*file);
    else
      problem = consumeExitError(file.takeError()).second;
  }
  list.push_back(std::move(record));
}

void ValueRecorder::addOutput(Operation *op, ArrayRef<reference::Tensor> values) {
  for (auto [index, value] : llvm::enumerate(values)) {
    std::string name = cast<ReceiveOp>(op).getName().str();
    if (values.size() > 1)
      name += "." + std::to_string(index);
    Record record = makeRecord("OUTPUT", value.view(), "", std::move(name));
    record.location = shortLocation(op->getLoc());
    record.run = runs[op];
    add(computed, std::move(record), value.view());
  }
}

void ValueRecorder::addValue(Operation *op, unsigned result, const reference::Tensor &value,
                             bool isRecomputed) {
  if (!isRecorded(op, result))
    return;
  std::string name = uniqueName(op, result), kind = isConstant(op) ? "INITIA" : "RESULT", operation;
  if (auto feed = dyn_cast<FeedOp>(op)) {
    kind = "INPUT";
    name = feed.getName().str();
    if (unsigned count = feedCounts[name]++; count > 0)
      name += "[" + std::to_string(count) + "]";
  } else if (!isConstant(op)) {
    operation = op->getName().getStringRef().str();
  }
  Record record = makeRecord(std::move(kind), value.view(), std::move(operation), std::move(name));
  record.location = shortLocation(op->getLoc());
  record.run = runs[op];
  if (isRecomputed)
    record.origin = "recomputed";
  add(isConstant(op) ? constants : computed, std::move(record), value.view());
}

// Records the values of the operations inside of a fusion. Those that the fusion yields are taken from
// `results`, which the kernel has written. The interpreter has computed the others.
void ValueRecorder::addFusion(Operation *fusion, ArrayRef<reference::Tensor> results) {
  OperandRange yielded = cast<FusionOp>(fusion).getBody().front().getTerminator()->getOperands();
  for (Pending &value : std::exchange(pending, {})) {
    auto found = llvm::find(yielded, value.op->getResult(value.result));
    bool isYielded = found != yielded.end();
    const reference::Tensor &tensor =
        isYielded ? results[static_cast<size_t>(found - yielded.begin())] : value.value;
    addValue(value.op, value.result, tensor, recomputed && !isYielded);
    if (value.result + 1 == value.op->getNumResults())
      ++runs[value.op];
  }
}

int32_t ValueRecorder::ran(Operation *op, ArrayRef<reference::Tensor> operands,
                           ArrayRef<reference::Tensor> results) {
  bool isInside = isa<FusionOp>(op->getParentOp());
  if (isa<FusionOp>(op))
    addFusion(op, results);
  else if (isa<ReceiveOp>(op))
    addOutput(op, operands);
  else if (!forwardsResults(op) && !(isConstant(op) && runs.contains(op)))
    for (auto [index, value] : llvm::enumerate(results)) {
      if (isInside && !isConstant(op))
        pending.push_back({op, static_cast<unsigned>(index), value});
      else
        addValue(op, static_cast<unsigned>(index), value, false);
    }
  if (!isInside || isConstant(op))
    ++runs[op];
  return problem.empty() ? ADRT_OK : ADRT_HOST_ERROR;
}

void ValueRecorder::addArgument(StringRef name, const adrt_tensor &value) {
  add(arguments, makeRecord("INPUT", value, "", name.str()), value);
}

void ValueRecorder::addResult(StringRef name, const adrt_tensor &value) {
  add(results, makeRecord("OUTPUT", value, "", name.str()), value);
}

std::vector<Record> ValueRecorder::takeRecords() {
  std::vector<Record> records = std::move(constants);
  for (std::vector<Record> *list : {&arguments, &computed, &results})
    llvm::move(*list, std::back_inserter(records));
  return records;
}

llvm::Error ValueRecorder::takeError() {
  return problem.empty() ? llvm::Error::success() : usageError(problem);
}

static std::optional<std::vector<mlir::ad::diff::Dim>> shapeOf(Type type) {
  std::vector<mlir::ad::diff::Dim> shape;
  auto tensor = dyn_cast<RankedTensorType>(type);
  for (int64_t size : tensor ? tensor.getShape() : ArrayRef<int64_t>())
    shape.push_back(ShapedType::isDynamic(size) ? mlir::ad::diff::Dim{0, "?"}
                                                : mlir::ad::diff::Dim{size, ""});
  return shape;
}

std::vector<Record> mlir::ad::runner::recordNodes(ModuleOp module, StringRef source) {
  std::vector<Record> records;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ModuleOp, FunctionOpInterface>(op) || op->hasTrait<OpTrait::IsTerminator>())
      return;
    Record record;
    record.kind = "NODE";
    record.summary = "????";
    record.op = op->getName().getStringRef().str();
    record.name = valueName(op, 0, source);
    record.shape = std::vector<diff::Dim>();
    if (op->getNumResults() > 0) {
      Type type = op->getResult(0).getType();
      if (std::optional<reference::ElementType> element =
              reference::elementTypeOf(getElementTypeOrSelf(type)))
        record.dtype = diff::dtypeName(static_cast<adrt_type>(*element));
      record.shape = shapeOf(type);
    }
    records.push_back(std::move(record));
  });
  return records;
}
