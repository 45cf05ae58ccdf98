// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Orders of summation: their text, which trees are orders at all, and which of those kernels compute.

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Numerics/Order.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

// Compiled code keeps a value for each lane.
static constexpr int64_t kMaxLanes = 4096;
// More elements than a memory has; sums of lengths and sizes stay below 2^63.
static constexpr int64_t kMaxLength = int64_t(1) << 40;

//===- The trees that kernels compute ----------------------------------===//

using Levels = SmallVector<OrderLevel, 3>;

static Levels levelsOfLanes(int64_t lanes, int64_t chunk) {
  return {{OrderJoin::interleaved, chunk / lanes},
          {OrderJoin::halving, lanes},
          {OrderJoin::pairwise, std::nullopt}};
}

static Levels levelsOfBlocks(int64_t block) {
  return {{OrderJoin::chain, block}, {OrderJoin::pairwise, std::nullopt}};
}

OrderAttr OrderAttr::lanes(MLIRContext *context, int64_t lanes, int64_t chunk) {
  return get(context, levelsOfLanes(lanes, chunk));
}
OrderAttr OrderAttr::blocks(MLIRContext *context, int64_t block) {
  return get(context, levelsOfBlocks(block));
}
OrderAttr OrderAttr::chain(MLIRContext *context) {
  return get(context, OrderLevel{OrderJoin::chain, std::nullopt});
}
OrderAttr OrderAttr::canonicalLanes(MLIRContext *context) {
  return lanes(context, numerics::canonicalLanes, numerics::canonicalChunk);
}
OrderAttr OrderAttr::canonicalBlocks(MLIRContext *context) {
  return blocks(context, numerics::canonicalBlock);
}

OrderAttr OrderAttr::canonicalScan(MLIRContext *context) {
  Levels levels = {{OrderJoin::chain, numerics::canonicalScanBlock},
                   {OrderJoin::chain, numerics::canonicalScanTile},
                   {OrderJoin::chain, std::nullopt}};
  return get(context, levels);
}

static bool haveJoins(ArrayRef<OrderLevel> levels, ArrayRef<OrderJoin> joins) {
  return llvm::equal(levels, joins, [](OrderLevel level, OrderJoin join) { return level.join == join; });
}

// lanes = N, chunk = N
static bool areLanes(ArrayRef<OrderLevel> levels) {
  return haveJoins(levels, {OrderJoin::interleaved, OrderJoin::halving, OrderJoin::pairwise}) &&
         levels[0].count && levels[1].count && !levels[2].count;
}

// block = N
static bool areBlocks(ArrayRef<OrderLevel> levels) {
  return haveJoins(levels, {OrderJoin::chain, OrderJoin::pairwise}) && levels[0].count && !levels[1].count;
}

static bool areChain(ArrayRef<OrderLevel> levels) {
  return haveJoins(levels, OrderJoin::chain) && !levels[0].count;
}

// chain = N, chain = N, chain
static bool areNestedChains(ArrayRef<OrderLevel> levels) {
  return haveJoins(levels, {OrderJoin::chain, OrderJoin::chain, OrderJoin::chain}) && levels[0].count &&
         levels[1].count && !levels[2].count;
}

bool OrderAttr::hasLanes() const { return areLanes(getLevels()); }
bool OrderAttr::isChain() const { return areChain(getLevels()); }
bool OrderAttr::hasNestedChains() const { return areNestedChains(getLevels()); }

int64_t OrderAttr::getLanes() const { return hasLanes() ? *getLevels()[1].count : 1; }

int64_t OrderAttr::getPartLength() const {
  return isChain() ? kMaxLength : *getLevels().front().count * getLanes();
}

int64_t OrderAttr::getTileLength() const { return *getLevels()[0].count * *getLevels()[1].count; }

//===- Text ------------------------------------------------------------===//

static StringRef wordOf(OrderJoin join) {
  switch (join) {
  case OrderJoin::step:
    return "step";
  case OrderJoin::chain:
    return "chain";
  case OrderJoin::interleaved:
    return "interleaved";
  case OrderJoin::halving:
    return "halving";
  case OrderJoin::pairwise:
    return "pairwise";
  }
  return "";
}

static std::optional<OrderJoin> joinFromWord(StringRef word) {
  for (OrderJoin join :
       {OrderJoin::step, OrderJoin::chain, OrderJoin::interleaved, OrderJoin::halving, OrderJoin::pairwise})
    if (word == wordOf(join))
      return join;
  return std::nullopt;
}

static std::string textOf(ArrayRef<OrderLevel> levels) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(levels, stream, [&](const OrderLevel &level) {
    stream << wordOf(level.join);
    if (level.count)
      stream << " = " << *level.count;
  });
  return text;
}

void OrderAttr::print(AsmPrinter &printer) const {
  if (hasLanes())
    printer << "<lanes = " << getLanes() << ", chunk = " << getPartLength() << ">";
  else if (areBlocks(getLevels()))
    printer << "<block = " << getPartLength() << ">";
  else
    printer << "<" << textOf(getLevels()) << ">";
}

static LogicalResult checkLength(function_ref<InFlightDiagnostic()> emitError, int64_t length) {
  if (length <= 0)
    return emitError() << "expected a positive chunk or block, but got " << length;
  if (length > kMaxLength)
    return emitError() << "expected a chunk or block of at most " << kMaxLength << ", but got " << length;
  return success();
}

static LogicalResult checkLanes(function_ref<InFlightDiagnostic()> emitError, int64_t lanes) {
  if (lanes == 0)
    return emitError() << "expected a positive number of lanes, but got 0";
  if (lanes < 0 || !llvm::isPowerOf2_64(lanes))
    return emitError() << "expected a power of two as the number of lanes, but got " << lanes;
  if (lanes > kMaxLanes)
    return emitError() << "expected at most " << kMaxLanes << " lanes, but got " << lanes;
  return success();
}

// `= N`, checked at its own location.
static LogicalResult
parseNumber(AsmParser &parser, int64_t &number,
            function_ref<LogicalResult(function_ref<InFlightDiagnostic()>, int64_t)> check) {
  if (parser.parseEqual())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  return failure(parser.parseInteger(number) ||
                 check([&] { return parser.emitError(loc); }, number).failed());
}

// The rest of `lanes = N, chunk = N`
static LogicalResult parseLanes(AsmParser &parser, Levels &levels) {
  int64_t lanes = 0, chunk = 0;
  if (failed(parseNumber(parser, lanes, checkLanes)) || parser.parseComma() || parser.parseKeyword("chunk"))
    return failure();
  auto check = [&](function_ref<InFlightDiagnostic()> emitError, int64_t length) -> LogicalResult {
    if (failed(checkLength(emitError, length)))
      return failure();
    if (length % lanes != 0)
      return emitError() << "expected a chunk that is a multiple of the lanes, but got " << length << " and "
                         << lanes;
    return success();
  };
  if (failed(parseNumber(parser, chunk, check)))
    return failure();
  levels = levelsOfLanes(lanes, chunk);
  return success();
}

// One level after the other, from the innermost one.
static LogicalResult parseLevels(AsmParser &parser, Levels &levels) {
  bool first = true;
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    bool given = succeeded(parser.parseOptionalKeyword(&word));
    std::optional<OrderJoin> join = joinFromWord(word);
    if (!join) {
      std::string text = word.str();
      given = given || succeeded(parser.parseOptionalString(&text));
      InFlightDiagnostic error = parser.emitError(loc, "expected ");
      error << (first ? "'lanes = N, chunk = N', 'block = N', or levels of 'step', 'chain', 'interleaved', "
                        "'halving' or 'pairwise'"
                      : "another level of 'step', 'chain', 'interleaved', 'halving' or 'pairwise'");
      if (given)
        error << ", but got '" << text << "'";
      return failure();
    }
    std::optional<int64_t> count;
    if (succeeded(parser.parseOptionalEqual()) && parser.parseInteger(count.emplace()))
      return failure();
    levels.push_back({*join, count});
    first = false;
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

// <lanes = N, chunk = N>, <block = N>, or the levels one by one.
Attribute OrderAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  Levels levels;
  LogicalResult parsed = success();
  if (succeeded(parser.parseOptionalKeyword("lanes"))) {
    parsed = parseLanes(parser, levels);
  } else if (succeeded(parser.parseOptionalKeyword("block"))) {
    int64_t block = 0;
    parsed = parseNumber(parser, block, checkLength);
    levels = levelsOfBlocks(block);
  } else {
    parsed = parseLevels(parser, levels);
  }
  if (failed(parsed) || parser.parseGreater())
    return {};
  return OrderAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                               ArrayRef<OrderLevel>(levels));
}

//===- Verification ----------------------------------------------------===//

// Whether the levels are a tree whose leaves are all elements, each once.
static LogicalResult checkTree(function_ref<InFlightDiagnostic()> emitError, ArrayRef<OrderLevel> levels) {
  if (levels.empty())
    return emitError() << "expected an order of one level or more";
  int64_t elements = 1, open = 0;
  for (auto [number, level] : llvm::enumerate(levels)) {
    StringRef word = wordOf(level.join);
    open += !level.count;
    if (level.count && *level.count <= 0)
      return emitError() << "expected a positive number after '" << word << "', but got " << *level.count;
    if (level.count && (llvm::MulOverflow(elements, *level.count, elements) || elements > kMaxLength))
      return emitError() << "expected levels of at most " << kMaxLength << " elements, but got '"
                         << textOf(levels) << "'";
    if (level.join == OrderJoin::step && (number != 0 || !level.count))
      return emitError() << "expected 'step = N' as the first level, since an instruction adds elements, "
                            "but got '"
                         << textOf(levels) << "'";
    bool joinsLanes = number + 1 < levels.size() && levels[number + 1].join == OrderJoin::halving;
    if (level.join == OrderJoin::interleaved && (number != 0 || !joinsLanes))
      return emitError()
             << "expected 'interleaved' as the first level and 'halving = N' after it, which says "
                "how many lanes there are, but got '"
             << textOf(levels) << "'";
    if (level.join == OrderJoin::halving && !(level.count && llvm::isPowerOf2_64(*level.count)))
      return emitError() << "expected 'halving = N' with a power of two, but got '" << textOf(levels) << "'";
  }
  if (open != 1)
    return emitError() << "expected one level without a number, which joins as many nodes as there are, but "
                          "got '"
                       << textOf(levels) << "'";
  return success();
}

// Other trees are orders, too. Until kernels compute them, nothing is written in them.
LogicalResult OrderAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<OrderLevel> levels) {
  if (failed(checkTree(emitError, levels)))
    return failure();
  if (!areLanes(levels) && !areBlocks(levels) && !areChain(levels) && !areNestedChains(levels))
    return emitError() << "expected 'lanes = N, chunk = N', 'block = N', 'chain' or 'chain = N, chain = N, "
                          "chain', the orders that kernels compute, but got '"
                       << textOf(levels) << "'";
  return areLanes(levels) ? checkLanes(emitError, *levels[1].count) : success();
}
