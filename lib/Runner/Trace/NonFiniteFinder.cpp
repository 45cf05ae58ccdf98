// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The storage of a tensor leads to the execution that computed it, so that loops, branches, calls and fusions
// need no case of their own: they pass tensors on.
#include "adjoint/Runner/Trace/NonFiniteFinder.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Diff/NumberText.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Runner/Trace/WideEvaluator.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad::runner;
using mlir::ad::diff::pythonNumber;
using mlir::ad::reference::Tensor;

/// How many executions keep their sources, so that long loops do not keep all that ran.
static constexpr size_t maxRecent = 1 << 16;
static constexpr size_t maxChain = 5;

ElementRange mlir::ad::runner::rangeOf(const Tensor &tensor) {
  ElementRange range;
  range.count = tensor.getNumElements();
  bool hasNumber = false;
  for (int64_t i = 0; i < range.count; ++i) {
    double value = elementAt(tensor, i);
    if (std::isnan(value)) {
      if (range.nans++ == 0)
        range.firstNaN = i;
      continue;
    }
    if (std::isinf(value) && range.infinities++ == 0)
      range.firstInfinity = i;
    range.min = hasNumber ? std::min(range.min, value) : value;
    range.max = hasNumber ? std::max(range.max, value) : value;
    hasNumber = true;
  }
  return range;
}

std::string ElementRange::toText() const {
  if (count == 0)
    return "no elements";
  std::string text = count == nans ? ""
                     : min == max  ? pythonNumber(min)
                                   : "[" + pythonNumber(min) + ", " + pythonNumber(max) + "]";
  if (nans > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(nans) + " of " + std::to_string(count) + " NaN";
  if (infinities > 0)
    text += ", " + std::to_string(infinities) + " of " + std::to_string(count) + " infinite";
  return text;
}

/// The element of an operand of an elementwise operation that belongs to an element of the result.
static std::optional<int64_t> operandElement(const Tensor &operand, ArrayRef<int64_t> shape,
                                             int64_t element) {
  ArrayRef<int64_t> sizes = operand.getShape();
  if (sizes.size() > shape.size())
    return std::nullopt;
  size_t leading = shape.size() - sizes.size();
  int64_t offset = 0, stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis]) {
    if (axis < leading)
      continue;
    int64_t size = sizes[axis - leading];
    if (size != 1 && size != shape[axis])
      return std::nullopt;
    offset += size == 1 ? 0 : element % shape[axis] * stride;
    stride *= size;
  }
  return offset;
}

static bool isElementwise(Operation *op) {
  return isa<ad::ElementwiseOpInterface>(op) || op->hasTrait<OpTrait::Elementwise>() ||
         (op->getNumResults() == 1 && !isa<RankedTensorType>(op->getResult(0).getType()));
}

/// The value that a block argument has when its block runs first.
static Value initialValue(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    OpOperand *tied = nullptr;
    if (auto loop = dyn_cast_or_null<LoopLikeOpInterface>(parent))
      tied = loop.getTiedLoopInit(argument);
    else if (auto fusion = dyn_cast_or_null<ad::FusionOp>(parent))
      tied = &fusion->getOpOperand(argument.getArgNumber());
    if (!tied)
      break;
    value = tied->get();
  }
  return value;
}

static bool isConstant(Value value) {
  Operation *op = initialValue(value).getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<ad::BroadcastOp>(op))
    op = initialValue(broadcast.getOperand(0)).getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

/// The operand that explains a bad result best: one that is not finite, the divisor of a division, else the
/// one with the largest magnitude. A constant explains less than a value that was computed.
static std::optional<size_t> findSuspect(Operation *op, ArrayRef<Tensor> operands,
                                         ArrayRef<ElementRange> ranges) {
  StringRef name = op->getName().stripDialect();
  bool divides = name.starts_with("div") || name.starts_with("rem");
  std::optional<size_t> suspect;
  std::pair<bool, double> best;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!isFloat(operands[i]))
      continue;
    if (!ranges[i].isFinite())
      return i;
    double magnitude =
        divides ? static_cast<double>(i) : std::max(std::fabs(ranges[i].min), std::fabs(ranges[i].max));
    std::pair<bool, double> weight(!isConstant(op->getOperand(i)), magnitude);
    if (!suspect || weight > best) {
      best = weight;
      suspect = i;
    }
  }
  return suspect;
}

static std::string describeGiven(Value value) {
  value = initialValue(value);
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!function)
    return "a value that no operation computed";
  if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ad.name"))
    return "argument '" + name.str() + "'";
  return "argument " + std::to_string(argument.getArgNumber()) + " of @" + function.getSymName().str();
}

std::shared_ptr<NonFiniteFinder::Producer> NonFiniteFinder::producerOf(const Tensor &tensor) const {
  auto found = producers.find(tensor.getStorage().get());
  return found == producers.end() || found->second.storage.expired() ? nullptr : found->second.producer;
}

// The oldest first, so that no long chain of sources is freed by recursion.
NonFiniteFinder::~NonFiniteFinder() {
  for (const std::shared_ptr<Producer> &producer : recent)
    producer->source = nullptr;
}

void NonFiniteFinder::remember(const Tensor &tensor, std::shared_ptr<Producer> producer) {
  recent.push_back(producer);
  if (recent.size() > maxRecent) {
    recent.front()->source = nullptr;
    recent.pop_front();
  }
  producers[tensor.getStorage().get()] = {tensor.getStorage(), std::move(producer)};
  if (producers.size() >= nextSweep)
    dropDead();
}

void NonFiniteFinder::dropDead() {
  SmallVector<const void *> dead;
  for (const auto &[storage, entry] : producers)
    if (entry.storage.expired())
      dead.push_back(storage);
  for (const void *storage : dead)
    producers.erase(storage);
  nextSweep = std::max<size_t>(nextSweep, 2 * producers.size());
}

void NonFiniteFinder::noteGiven(Operation *op, const ElementRange &range) {
  if (!range.isFinite() && givenSeen.try_emplace(op, true).second)
    given.push_back(executionText(op, {}) + ": " + range.toText());
}

int NonFiniteFinder::findOrigin(ArrayRef<Tensor> operands) const {
  for (const Tensor &operand : operands)
    if (std::shared_ptr<Producer> producer = producerOf(operand); producer && producer->origin >= 0)
      return producer->origin;
  return -1;
}

std::vector<ChainStep> NonFiniteFinder::chainOf(const std::shared_ptr<Producer> &producer, Value value,
                                                const ElementRange &range) const {
  std::vector<ChainStep> chain;
  std::shared_ptr<Producer> current = producer;
  ElementRange currentRange = range;
  while (chain.size() < maxChain) {
    if (!current) {
      if (value)
        chain.push_back({describeGiven(value), currentRange});
      break;
    }
    chain.push_back({executionText(current->op, current->iterations), current->range});
    value = current->sourceValue;
    currentRange = current->sourceRange;
    current = current->source;
  }
  return chain;
}

int NonFiniteFinder::addOrigin(const Execution &execution, NonFinite kind, int64_t element,
                               const Tensor &result, const ElementRange &range) {
  auto [op, operands, ranges, suspect] = execution;
  auto [known, isNew] = originOfOperation.try_emplace({op, static_cast<int>(kind)}, origins.size());
  if (!isNew) {
    ++origins[static_cast<size_t>(known->second)].executions;
    return known->second;
  }
  NonFiniteOrigin origin;
  origin.kind = kind;
  origin.op = op;
  origin.iterations = position.get();
  origin.element = elementText(element, result.getShape());
  origin.value = elementAt(result, element);
  origin.result = range;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!isFloat(operands[i]))
      continue;
    OperandNote note{"operand " + std::to_string(i), ranges[i], std::nullopt, suspect == i};
    if (std::optional<int64_t> from =
            isElementwise(op) ? operandElement(operands[i], result.getShape(), element) : std::nullopt)
      note.value = elementAt(operands[i], *from);
    origin.operands.push_back(std::move(note));
  }
  if (suspect)
    origin.chain = chainOf(producerOf(operands[*suspect]), op->getOperand(*suspect), ranges[*suspect]);
  origins.push_back(std::move(origin));
  return known->second;
}

namespace {

/// The first elements of a result that are not finite and do not continue those of its operands.
struct MadeElements {
  int64_t nan = -1;           ///< NaN, from finite operands
  int64_t nanOfInfinity = -1; ///< NaN, from operands with an infinity and without NaN
  int64_t infinity = -1;      ///< an infinity, from finite operands

  void note(int64_t element, double value, bool hasNaN, bool isFinite) {
    int64_t &kind = !std::isnan(value) ? infinity : isFinite ? nan : nanOfInfinity;
    if (kind < 0 && (std::isnan(value) ? !hasNaN : isFinite))
      kind = element;
  }
};

bool isBad(const ElementRange &range) { return !range.isFinite(); }

MadeElements findMadeOfTensors(const ElementRange &range, ArrayRef<ElementRange> operands) {
  MadeElements made;
  bool isFinite = llvm::none_of(operands, isBad);
  if (isFinite)
    made.infinity = range.firstInfinity;
  if (llvm::none_of(operands, [](const ElementRange &operand) { return operand.nans > 0; }))
    (isFinite ? made.nan : made.nanOfInfinity) = range.firstNaN;
  return made;
}

MadeElements findMadeElementwise(const Tensor &result, ArrayRef<Tensor> operands) {
  MadeElements made;
  for (int64_t i = 0, count = result.getNumElements(); i < count; ++i) {
    double value = elementAt(result, i);
    if (std::isfinite(value))
      continue;
    bool hasNaN = false, isFinite = true;
    for (const Tensor &operand : operands)
      if (std::optional<int64_t> from =
              isFloat(operand) ? operandElement(operand, result.getShape(), i) : std::nullopt) {
        double element = elementAt(operand, *from);
        hasNaN |= std::isnan(element);
        isFinite &= std::isfinite(element);
      }
    made.note(i, value, hasNaN, isFinite);
  }
  return made;
}

} // namespace

int NonFiniteFinder::originOf(const Execution &execution, const Tensor &result, const ElementRange &range) {
  MadeElements made = isElementwise(execution.op) ? findMadeElementwise(result, execution.operands)
                                                  : findMadeOfTensors(range, execution.ranges);
  int before = findOrigin(execution.operands), origin = before;
  if (made.nanOfInfinity >= 0 && before >= 0) {
    std::string &consequence = origins[static_cast<size_t>(before)].consequence;
    if (consequence.empty())
      consequence = executionText(execution.op, position.get());
  } else if (made.nan < 0) {
    made.nan = made.nanOfInfinity;
  }
  if (made.nan >= 0)
    origin = addOrigin(execution, NonFinite::NaN, made.nan, result, range);
  if (made.infinity >= 0)
    origin = addOrigin(execution, NonFinite::Infinity, made.infinity, result, range);
  return before >= 0 ? before : origin;
}

NonFiniteFinder *NonFiniteFinder::watchWritten(ModuleOp program, ModuleOp compiled) {
  folded = std::make_unique<FoldedOperations>(program, compiled);
  if (folded->empty())
    return nullptr;
  written = std::make_unique<NonFiniteFinder>();
  return written.get();
}

void NonFiniteFinder::adoptFolded() {
  llvm::DenseMap<int, int> adopted;
  for (auto [number, origin] : llvm::enumerate(written->origins))
    if (folded->contains(origin.op)) {
      adopted[static_cast<int>(number)] = static_cast<int>(origins.size());
      origins.push_back(origin);
    }
  for (auto [op, number] : written->originOfResults)
    if (auto found = adopted.find(number); found != adopted.end() && folded->contains(op))
      foldedOrigins[mlir::ad::locationText(op->getLoc())] = found->second;
}

int NonFiniteFinder::findFoldedOrigin(const Execution &execution, const Tensor &result,
                                      const ElementRange &range) {
  if (!folded)
    return -1;
  auto known = foldedOrigins.find(mlir::ad::locationText(execution.op->getLoc()));
  if (known != foldedOrigins.end())
    return known->second;
  Operation *maker = folded->findMaker(execution.op);
  if (!maker)
    return -1;
  bool isNaN = range.nans > 0;
  return addOrigin({maker, {}, {}, std::nullopt}, isNaN ? NonFinite::NaN : NonFinite::Infinity,
                   isNaN ? range.firstNaN : range.firstInfinity, result, range);
}

void NonFiniteFinder::noteGivenOperands(Operation *op, ArrayRef<Tensor> operands,
                                        ArrayRef<ElementRange> ranges) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (!ranges[i].isFinite() && !producerOf(operands[i])) {
      std::string text = describeGiven(op->getOperand(i)) + ": " + ranges[i].toText();
      if (!llvm::is_contained(given, text))
        given.push_back(std::move(text));
    }
}

static bool isSource(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>() || isa<ad::FeedOp>(op); }

void NonFiniteFinder::observeResult(const Execution &execution, Value value, const Tensor &result) {
  auto producer = std::make_shared<Producer>();
  producer->op = execution.op;
  producer->iterations = position.get();
  producer->range = rangeOf(result);
  if (execution.suspect) {
    producer->source = producerOf(execution.operands[*execution.suspect]);
    producer->sourceValue = execution.op->getOperand(*execution.suspect);
    producer->sourceRange = execution.ranges[*execution.suspect];
  }
  if (producer->range.isFinite())
    producer->origin = -1;
  else if (!isSource(execution.op))
    producer->origin = originOf(execution, result, producer->range);
  else if ((producer->origin = findFoldedOrigin(execution, result, producer->range)) < 0)
    noteGiven(execution.op, producer->range);
  if (producer->origin >= 0)
    originOfResults[execution.op] = producer->origin;
  if (isa<ad::FusionOp>(execution.op->getParentOp()))
    inFusion[value] = producer;
  remember(result, std::move(producer));
}

/// Whether the fusion around the operation yields the value.
static bool isYielded(Value value) {
  Operation *op = value.getDefiningOp();
  return isa<ad::FusionOp>(op->getParentOp()) &&
         llvm::is_contained(op->getBlock()->getTerminator()->getOperands(), value);
}

// Another operation of the fusion reads the interpreter's tensor.
void NonFiniteFinder::observeYielded(Value value) {
  auto found = yields.find(value);
  if (found == yields.end())
    return;
  Yielded yielded = std::move(found->second);
  yields.erase(found);
  observeResult({yielded.op, yielded.operands, yielded.ranges, yielded.suspect}, value, yielded.result);
}

std::shared_ptr<NonFiniteFinder::Producer> NonFiniteFinder::makeYielded(Operation *fusion, Value yielded,
                                                                        const Tensor &result,
                                                                        ArrayRef<Tensor> operands) {
  auto producer = std::make_shared<Producer>();
  if (std::shared_ptr<Producer> inner = inFusion.lookup(yielded))
    *producer = *inner;
  else
    producer->op = fusion;
  producer->iterations = position.get();
  producer->range = rangeOf(result);
  if (producer->range.isFinite() || producer->origin >= 0)
    return producer;
  // The kernel alone has made what the interpreter does not make of the same operands.
  SmallVector<ElementRange> ranges(operands.size());
  for (auto [range, operand] : llvm::zip_equal(ranges, operands))
    if (isFloat(operand))
      range = rangeOf(operand);
  producer->origin =
      originOf({fusion, operands, ranges, findSuspect(fusion, operands, ranges)}, result, producer->range);
  return producer;
}

// Looks for origins among the results of a fusion, which its kernel has written. Whether a result is an
// origin depends on the operands of the operation inside of the fusion that computes it. No kernel writes
// those; the interpreter has computed them.
void NonFiniteFinder::observeFusion(Operation *fusion, ArrayRef<Tensor> operands, ArrayRef<Tensor> results) {
  Operation *yield = cast<ad::FusionOp>(fusion).getBody().front().getTerminator();
  for (auto [yielded, result] : llvm::zip_equal(yield->getOperands(), results)) {
    if (auto found = yields.find(yielded); found != yields.end()) {
      found->second.result = result;
      observeYielded(yielded);
    } else if (isFloat(result) && !producerOf(result)) {
      remember(result, makeYielded(fusion, yielded, result, operands));
    }
  }
  inFusion.clear();
}

int32_t NonFiniteFinder::ran(Operation *op, ArrayRef<Tensor> operands, ArrayRef<Tensor> results) {
  if (isa<ad::FusionOp>(op))
    observeFusion(op, operands, results);
  // The results of others are those of operations inside of them.
  if (op->getNumRegions() > 0 || isa<CallOpInterface>(op))
    return ADRT_OK;
  ++executions;
  for (Value operand : op->getOperands())
    observeYielded(operand);
  SmallVector<ElementRange> ranges(operands.size());
  for (auto [range, operand] : llvm::zip_equal(ranges, operands))
    if (isFloat(operand))
      range = rangeOf(operand);
  noteGivenOperands(op, operands, ranges);
  Execution execution{op, operands, ranges, findSuspect(op, operands, ranges)};
  for (auto [value, result] : llvm::zip_equal(op->getResults(), results)) {
    bool isPassedOn = llvm::any_of(operands, [&, &result = result](const Tensor &operand) {
      return operand.getStorage() == result.getStorage();
    });
    if (!isFloat(result) || isPassedOn)
      continue;
    if (isYielded(value))
      yields[value] = {op, SmallVector<Tensor, 2>(operands),
                       SmallVector<ElementRange, 2>(ranges.begin(), ranges.end()), execution.suspect, result};
    else
      observeResult(execution, value, result);
  }
  return ADRT_OK;
}
