// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// All named kernels with their contracts, and texts about them.

#include "Implementations.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::ad;

// Blocks of one element: only the tree over blocks is left.
static OrderAttr pairwiseOrder(MLIRContext *context) { return OrderAttr::blocks(context, 1); }

static StringRef lacksF32(Operation *op) {
  for (Value operand : op->getOperands().take_front(2))
    if (!getElementTypeOrSelf(operand.getType()).isF32())
      return "operands of f32";
  return getElementTypeOrSelf(op->getResult(0).getType()).isF32() ? "" : "a result of f32";
}

// Of the rows that do not say otherwise.
static constexpr StringLiteral kWritten("of the operation"), kChain("one ascending chain");
static constexpr StringLiteral kAccumulator("f32, f64 of f64"), kNone("none");

using Table = std::vector<Implementation>;

static void addOrders(Table &table) {
  table.push_back({{"", "written", kWritten, kAccumulator, kNone, "as docs/numerics.md says"}});
  Implementation serial{{"", "serial", kChain, kAccumulator, "reorder", "n u sum|x|"}};
  serial.order = OrderAttr::chain;
  table.push_back(serial);
  Implementation pairwise{
      {"", "pairwise", "balanced tree", kAccumulator, "reorder", "(log2 n + 2) u sum|x|"}};
  pairwise.order = pairwiseOrder;
  pairwise.hasOneTotal = true;
  table.push_back(pairwise);
}

static void addLayerNorms(Table &table) {
  table.push_back(
      {{"layer_norm", "two_pass", kWritten, kAccumulator, kNone, "variance: (d + 3) u, relative"}});
  Implementation welford{
      {"layer_norm", "welford", kChain, kAccumulator, "reorder|algebra", "variance: 4 n k u, relative"}};
  welford.build = buildWelfordLayerNorm;
  table.push_back(welford);
  Implementation onePass{
      {"layer_norm", "one_pass", kWritten, kAccumulator, "algebra", "variance: (2 d + 6) k^2 u, relative"}};
  onePass.build = buildOnePassLayerNorm;
  onePass.warning = "mean(x * x) - mean(x)^2 loses all digits of the variance where the mean is large "
                    "against the deviation";
  table.push_back(onePass);
}

static void addSoftmaxes(Table &table) {
  table.push_back({{"softmax", "shifted", kWritten, kAccumulator, kNone, "(d + 2 r + 8) u, relative"}});
  table.push_back({{"log_softmax", "shifted", kWritten, kAccumulator, kNone, "(d + 2 r + 8) u (1 + |y|)"}});
  Implementation online{
      {"softmax", "online", kChain, kAccumulator, "reorder|algebra", "(5 n + 3 r + 8) u, relative"}};
  online.build = buildOnlineSoftmax;
  table.push_back(online);
  online.kernel = {"log_softmax", "online",          kChain,
                   kAccumulator,  "reorder|algebra", "(5 n + 3 r + 8) u (1 + |y|)"};
  online.build = buildOnlineLogSoftmax;
  table.push_back(online);
  Implementation unshifted{
      {"softmax", "unshifted", kWritten, kAccumulator, "algebra|finite", "(d + 8) u, relative"}};
  unshifted.build = buildUnshiftedSoftmax;
  unshifted.warning = "exponentials overflow above 88 in f32, and a row of numbers below -103 is NaN";
  table.push_back(unshifted);
  unshifted.kernel = {"log_softmax", "unshifted",      kWritten,
                      kAccumulator,  "algebra|finite", "(2 d + 2 r + 8) u (1 + |y|)"};
  unshifted.build = buildUnshiftedLogSoftmax;
  unshifted.warning = "exponentials overflow above 88 in f32, and a row of numbers below -103 is infinite";
  table.push_back(unshifted);
}

// Of ad.dot and of ad.gemm.
static void addNarrowProducts(Table &table, StringLiteral op) {
  auto add = [&](NamedKernel kernel, Value (*build)(Operation *, Steps &)) {
    Implementation row{kernel};
    row.lacks = lacksF32;
    row.build = build;
    table.push_back(row);
  };
  add({op, "tf32", kWritten, "f32", "narrow", "(2^-10 + 2^-22 + (d + 1) u) sum|a||b|"}, buildTf32Contraction);
  add({op, "bf16x3", "3 sums of the operation", "f32", "narrow",
       "(2^-15 + 2^-21 + (1.04 d + 4) u) sum|a||b|"},
      buildBf16x3Contraction);
  add({op, "bf16x6", "6 sums of the operation", "f32", "reorder|mma", "(1.04 d + 4) u sum|a||b|"},
      buildBf16x6Contraction);
  add({op, "bf16x9", "9 sums of the operation", "f32", "reorder|mma", "(1.04 d + 3) u sum|a||b|"},
      buildBf16x9Contraction);
}

ArrayRef<Implementation> ad::implementations() {
  static const Table table = [] {
    Table rows;
    addOrders(rows);
    addLayerNorms(rows);
    addSoftmaxes(rows);
    addNarrowProducts(rows, "dot");
    addNarrowProducts(rows, "gemm");
    return rows;
  }();
  return table;
}

//===- Look-up ------------------------------------------------------------===//

bool ad::isSummingOperation(OperationName name) {
  return isa_and_nonnull<ADDialect>(name.getDialect()) && name.hasInterface<NumericsOpInterface>() &&
         !name.hasTrait<OpTrait::IsIsolatedFromAbove>() &&
         llvm::any_of(name.getAttributeNames(),
                      [](StringAttr attribute) { return attribute.getValue() == "order"; });
}

static bool isFor(const Implementation &implementation, OperationName op) {
  if (!implementation.kernel.op.empty())
    return implementation.kernel.op == op.stripDialect();
  return isSummingOperation(op) && !(implementation.hasOneTotal && op.hasTrait<RunningReduction>());
}

const Implementation *ad::findImplementation(OperationName op, StringRef name) {
  for (const Implementation &implementation : implementations())
    if (implementation.kernel.name == name && isFor(implementation, op))
      return &implementation;
  return nullptr;
}

// a, b or c
static std::string listOf(ArrayRef<StringRef> words) {
  if (words.size() < 2)
    return words.empty() ? "" : words.front().str();
  return llvm::join(words.drop_back(), ", ") + " or " + words.back().str();
}

std::string ad::implementationNames(OperationName op) {
  SmallVector<StringRef> names;
  for (const Implementation &implementation : implementations())
    if (isFor(implementation, op))
      names.push_back(implementation.kernel.name);
  return listOf(names);
}

static SmallVector<StringRef> summingOperations(MLIRContext *context) {
  SmallVector<StringRef> names;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (isSummingOperation(name))
      names.push_back(name.stripDialect());
  llvm::sort(names);
  return names;
}

// Those whose steps are all results.
static SmallVector<StringRef> runningOperations(MLIRContext *context) {
  SmallVector<StringRef> names = summingOperations(context);
  llvm::erase_if(names, [&](StringRef name) {
    return !OperationName(("ad." + name).str(), context).hasTrait<RunningReduction>();
  });
  return names;
}

//===- Texts --------------------------------------------------------------===//

static llvm::Expected<KernelChoice> parseChoice(MLIRContext *context, StringRef text) {
  auto [op, name] = text.trim().split('=');
  if (op.empty() || name.empty())
    return runner::usageError("expected OP=NAME, such as layer_norm=welford, but got '" + text + "'");
  SmallVector<StringRef> known = summingOperations(context);
  if (!llvm::is_contained(known, op))
    return runner::usageError("expected an operation with named kernels (" + listOf(known) + "), but got '" +
                              op + "'");
  OperationName operation(("ad." + op).str(), context);
  if (!findImplementation(operation, name))
    return runner::usageError("expected " + implementationNames(operation) + " as the kernel of " + op +
                              ", but got '" + name + "'");
  return KernelChoice{op.str(), name.str()};
}

llvm::Expected<std::vector<KernelChoice>> ad::parseKernelChoices(MLIRContext *context, StringRef text) {
  std::vector<KernelChoice> choices;
  if (text.empty())
    return choices;
  SmallVector<StringRef> words;
  text.split(words, ',');
  for (StringRef word : words) {
    llvm::Expected<KernelChoice> choice = parseChoice(context, word);
    if (!choice)
      return choice.takeError();
    for (const KernelChoice &other : choices)
      if (other.op == choice->op)
        return runner::usageError("expected one kernel of " + choice->op + ", but got '" + other.name +
                                  "' and '" + choice->name + "'");
    choices.push_back(std::move(*choice));
  }
  return choices;
}

void ad::printNamedKernels(MLIRContext *context, raw_ostream &os) {
  auto row = [&](StringRef op, StringRef name, StringRef order, StringRef accumulator, StringRef permissions,
                 StringRef bound) {
    os << llvm::formatv("{0,-12} {1,-10} {2,-30} {3,-16} {4,-16} ", op, name, order, accumulator, permissions)
       << bound << "\n";
  };
  row("operation", "name", "order of sums", "accumulator", "permissions", "bound of the error");
  for (const Implementation &implementation : implementations()) {
    const NamedKernel &kernel = implementation.kernel;
    StringRef any = implementation.hasOneTotal ? "**" : "*";
    row(kernel.op.empty() ? any : StringRef(kernel.op), kernel.name, kernel.order, kernel.accumulator,
        kernel.permissions, kernel.bound);
  }
  os << "\n* is each operation that sums: " << llvm::join(summingOperations(context), ", ") << "\n"
     << "** are those of them that have one total, all but " << llvm::join(runningOperations(context), ", ")
     << "\n"
     << "permissions: what the numerics mode would have to permit if the compiler chose the kernel by "
        "itself. "
        "A kernel that you\nname needs none.\n"
     << "n: number of elements; d: longest path of the order, n for a chain; u: unit roundoff of the "
        "accumulator, 2^-24 of f32;\n"
     << "k: sqrt(mean(x * x) / variance); r: largest difference of two elements of a row, absolute value if "
        "unshifted\n"
     << "All kernels give the same bits on reference, cpu and gpu-sim, but for bf16x3, bf16x6 and bf16x9 of "
        "operations with the\npermissions reorder and mma (strict, fast): GPUs sum their products on tensor "
        "cores, d = 2.5 min(n, 128) + n / 128.\n";
}
