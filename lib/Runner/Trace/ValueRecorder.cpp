// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes records of operations that ran.
#include "adjoint/Runner/Trace/ValueRecorder.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

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

/// Whether the results are those of operations inside.
bool forwardsResults(Operation *op) { return op->getNumRegions() > 0 || isa<CallOpInterface>(op); }

StringRef kindOf(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return "INITIA";
  return isa<mlir::ad::FeedOp>(op) ? "INPUT" : "RESULT";
}

} // namespace

std::string mlir::ad::runner::valueName(Operation *op, unsigned result, StringRef source) {
  FileLineColLoc position = findPosition(op->getLoc());
  std::string name;
  if (position && position.getColumn() > 0)
    name = findResultName(findLine(source, position.getLine()), position.getColumn(), result);
  return name.empty() ? locationText(op->getLoc()) : name;
}

int32_t ValueRecorder::ran(Operation *op, ArrayRef<reference::Tensor> operands,
                           ArrayRef<reference::Tensor> results) {
  if (auto receive = dyn_cast<ReceiveOp>(op))
    for (auto [index, value] : llvm::enumerate(operands)) {
      std::string name = receive.getName().str();
      if (operands.size() > 1)
        name += "." + std::to_string(index);
      computed.push_back(makeRecord("OUTPUT", value.view(), "", std::move(name)));
    }
  bool isConstant = op->hasTrait<OpTrait::ConstantLike>();
  if (forwardsResults(op) || (isConstant && !seenConstants.insert(op).second))
    return ADRT_OK;
  for (auto [index, value] : llvm::enumerate(results))
    if (!op->getResult(index).getType().isIndex())
      (isConstant ? constants : computed).push_back(recordResult(op, static_cast<unsigned>(index), value));
  return ADRT_OK;
}

Record ValueRecorder::recordResult(Operation *op, unsigned result, const reference::Tensor &value) {
  StringRef kind = kindOf(op);
  std::string name = valueName(op, result, source);
  if (auto feed = dyn_cast<FeedOp>(op)) {
    name = feed.getName().str();
    if (unsigned count = feedCounts[name]++; count > 0)
      name += "[" + std::to_string(count) + "]";
  }
  return makeRecord(kind.str(), value.view(), kind == "RESULT" ? op->getName().getStringRef().str() : "",
                    std::move(name));
}

std::vector<Record> ValueRecorder::takeRecords(const Signature &signature, llvm::ArrayRef<Tensor> arguments,
                                               const RunValues &values) {
  std::vector<Record> records = std::move(constants);
  for (auto [spec, argument] : llvm::zip(signature.arguments, arguments))
    records.push_back(makeRecord("INPUT", argument.view(), "", spec.name));
  llvm::move(computed, std::back_inserter(records));
  for (const NamedTensor &result : values.results)
    records.push_back(makeRecord("OUTPUT", result.value.view(), "", result.name));
  return records;
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
