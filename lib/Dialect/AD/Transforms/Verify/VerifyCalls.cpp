// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The length of a function after inlining, from the lengths of its callees: no call is inlined to find out.

#include "VerifyCalls.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr uint64_t kMaxOperations = 100000;
// A derivative is a copy of the function and the reverse of its operations.
static constexpr uint64_t kDerivativeCopies = 2;
// Of the functions in an error, the first and the last ones.
static constexpr size_t kShownFirst = 24, kShownLast = 4;

namespace {
/// All calls of one function in another one.
struct Calls {
  Operation *first;       ///< the first of them
  uint64_t count = 0;     ///< calls in the text
  uint64_t copies = 0;    ///< the same, derivatives counted as often as they copy
  uint64_t maxCopies = 1; ///< of a single call
};

struct Function {
  uint64_t own =
      0; ///< operations in the text, without terminators of the function and calls that are inlined
  llvm::MapVector<func::FuncOp, Calls> calls;
  uint64_t inlined = 0; ///< operations once all calls are inlined
  bool isDone = false;
};

class CallGraph {
public:
  explicit CallGraph(ModuleOp module) : symbols(module) {
    for (auto function : module.getOps<func::FuncOp>())
      read(function);
    for (auto &[function, node] : functions)
      measure(function);
  }

  LogicalResult verify();

private:
  void read(func::FuncOp function);
  void measure(func::FuncOp root);
  uint64_t writtenLength(func::FuncOp root);
  LogicalResult verify(func::FuncOp root);
  func::FuncOp longestCallee(func::FuncOp function);
  std::string chainFrom(func::FuncOp root);

  SymbolTable symbols;
  llvm::MapVector<func::FuncOp, Function> functions;
  std::vector<func::FuncOp> bottomUp; // callees before callers
};
} // namespace

static StringRef calleeOf(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCallee();
  if (auto vjp = dyn_cast<VjpOp>(op))
    return vjp.getCallee();
  if (auto grad = dyn_cast<ValueAndGradOp>(op))
    return grad.getCallee();
  return {};
}

void CallGraph::read(func::FuncOp function) {
  Function &node = functions[function];
  function.walk([&](Operation *op) {
    StringRef name = calleeOf(op);
    auto callee = name.empty() ? func::FuncOp() : symbols.lookup<func::FuncOp>(name);
    if (!callee || callee.isExternal()) {
      node.own += op != function && !isa<func::ReturnOp>(op);
      return;
    }
    uint64_t copies = isa<func::CallOp>(op) ? 1 : kDerivativeCopies;
    Calls &calls = node.calls.try_emplace(callee, Calls{op}).first->second;
    ++calls.count;
    calls.copies += copies;
    calls.maxCopies = std::max(calls.maxCopies, copies);
  });
}

// Depth first with a stack of its own: chains of calls are longer than the thread's stack is deep. A call
// that closes a recursion counts as nothing; others refuse it.
void CallGraph::measure(func::FuncOp root) {
  llvm::SetVector<func::FuncOp> path;
  if (!functions[root].isDone)
    path.insert(root);
  while (!path.empty()) {
    func::FuncOp function = path.back();
    Function &node = functions[function];
    auto *next = llvm::find_if(node.calls, [&](auto &entry) {
      return !functions[entry.first].isDone && !path.contains(entry.first);
    });
    if (next != node.calls.end()) {
      path.insert(next->first);
      continue;
    }
    node.inlined = node.own;
    for (auto &[callee, calls] : node.calls)
      node.inlined = llvm::SaturatingMultiplyAdd(calls.copies, functions[callee].inlined, node.inlined);
    node.isDone = true;
    bottomUp.push_back(function);
    path.pop_back();
  }
}

// The operations of the text that the root reaches, each function counted once.
uint64_t CallGraph::writtenLength(func::FuncOp root) {
  llvm::DenseMap<func::FuncOp, uint64_t> copies = {{root, 1}};
  uint64_t length = 0;
  for (func::FuncOp function : llvm::reverse(bottomUp)) {
    uint64_t own = copies.lookup(function);
    if (own == 0)
      continue;
    length = llvm::SaturatingMultiplyAdd(own, functions[function].own, length);
    for (auto &[callee, calls] : functions[function].calls) {
      uint64_t &most = copies[callee];
      most = std::max(most, llvm::SaturatingMultiply(own, calls.maxCopies));
    }
  }
  return length;
}

func::FuncOp CallGraph::longestCallee(func::FuncOp function) {
  func::FuncOp longest;
  uint64_t most = 0;
  for (auto &[callee, calls] : functions[function].calls) {
    uint64_t length = llvm::SaturatingMultiply(calls.copies, functions[callee].inlined);
    if (length > most) {
      most = length;
      longest = callee;
    }
  }
  return longest;
}

std::string CallGraph::chainFrom(func::FuncOp root) {
  SmallVector<std::string> links = {"@" + root.getSymName().str()};
  llvm::DenseSet<func::FuncOp> seen = {root};
  for (func::FuncOp at = root; func::FuncOp callee = longestCallee(at); at = callee) {
    if (!seen.insert(callee).second)
      break;
    uint64_t count = functions[at].calls[callee].count;
    links.push_back((count > 1 ? std::to_string(count) + " times @" : "@") + callee.getSymName().str());
  }
  if (links.size() > kShownFirst + kShownLast + 1) {
    links.erase(links.begin() + kShownFirst, links.end() - kShownLast);
    links.insert(links.begin() + kShownFirst, "...");
  }
  return llvm::join(links, " calls ");
}

LogicalResult CallGraph::verify(func::FuncOp root) {
  uint64_t length = functions[root].inlined;
  if (length <= kMaxOperations)
    return success();
  // A long text is no fault of its calls, unless they double it.
  uint64_t written = writtenLength(root);
  uint64_t limit =
      written <= kMaxOperations ? kMaxOperations : llvm::SaturatingMultiply<uint64_t>(2, written);
  if (length <= limit)
    return success();
  bool isLargest = length == std::numeric_limits<uint64_t>::max();
  return functions[root].calls[longestCallee(root)].first->emitOpError("expected calls that make '@")
         << root.getSymName() << "' at most " << limit
         << " operations long, since each call is a copy of its callee, but got "
         << (isLargest ? "more than " : "") << length << " operations: " << chainFrom(root)
         << "; repeat a call by scf.for";
}

// The functions that no other one calls come first: a chain of calls begins at an entry.
LogicalResult CallGraph::verify() {
  llvm::DenseSet<func::FuncOp> called;
  for (auto &[function, node] : functions)
    for (auto &[callee, calls] : node.calls)
      called.insert(callee);
  LogicalResult all = success();
  for (auto &[function, node] : functions)
    if (!called.contains(function) && failed(verify(function)))
      all = failure();
  if (failed(all))
    return failure();
  for (auto &[function, node] : functions)
    if (called.contains(function) && failed(verify(function)))
      return failure();
  return success();
}

LogicalResult ad::verifyCalls(ModuleOp module) { return CallGraph(module).verify(); }
