// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The machine of the interpreter: a table from operations to their semantics, and the values of one call.
// Each family of operations registers its semantics from a file of its own.
//
// Every function that can fail returns an adrt_status; whoever gets another one than ADRT_OK returns it
// unchanged, the reason has been recorded.

#ifndef ADJOINT_LIB_REFERENCE_INTERPRETER_H
#define ADJOINT_LIB_REFERENCE_INTERPRETER_H

#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "adjoint/Interfaces/ReductionOpInterface.h"
#include "adjoint/Reference/Observer.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace mlir::ad::reference {

class Frame;

/// Operations by name. A semantics reads operands from the frame and sets results in it.
class Semantics {
public:
  using Function = std::function<int32_t(Operation *, Frame &)>;

  template <class OpT> void add(int32_t (*function)(OpT, Frame &)) {
    table[OpT::getOperationName()] = [function](Operation *op, Frame &frame) {
      return function(cast<OpT>(op), frame);
    };
  }
  /// For operations that differ in a function only.
  template <class OpT, class F> void addGeneric(F function) { table[OpT::getOperationName()] = function; }
  const Function *find(Operation *op) const {
    auto found = table.find(op->getName().getStringRef());
    return found == table.end() ? nullptr : &found->second;
  }

private:
  llvm::StringMap<Function> table;
};

void registerElementwise(Semantics &semantics);
void registerCreation(Semantics &semantics);
void registerShape(Semantics &semantics);
void registerContraction(Semantics &semantics);
void registerReduction(Semantics &semantics);
void registerNN(Semantics &semantics);
void registerSorting(Semantics &semantics);
void registerConvolution(Semantics &semantics);
void registerHost(Semantics &semantics);
void registerControl(Semantics &semantics);
void registerScalars(Semantics &semantics);

/// Whether the operation is code of a kernel, where nothing fails.
bool isInKernel(Operation *op);

/// The number that a scalar of an integer type of at most 64 bits, or of `index`, holds.
APInt integerOf(const Tensor &scalar, Type type);
/// The scalar of the type that holds the number, of the width of the type; none if the type is no such type.
/// An integer is stored without sign in the smallest element type that has its width.
std::optional<Tensor> scalarOf(const APInt &number, Type type);

/// An elementwise operation by its interface.
int32_t runElementwise(ElementwiseOpInterface op, Frame &frame);
/// A reduction by its interfaces.
int32_t runReduction(ReductionOpInterface op, Frame &frame);
/// A nest of loops by its interfaces.
int32_t runLoopNest(LoopNestOpInterface op, Frame &frame);
int32_t runOrderedWrite(OrderedWriteOpInterface op, Frame &frame);
/// The decomposition of a named kernel.
int32_t runNamedKernel(NamedKernelOpInterface op, Frame &frame);
/// The operands of an elementwise operation with one shape, as they are stored.
int32_t broadcastOperands(Operation *op, Frame &frame, SmallVectorImpl<Tensor> &operands);

/// One execution of a module.
class Interpreter {
public:
  Interpreter(ModuleOp module, adrt_context *context, Observer *observer);

  /// Calls a function by name; `caller` is where errors of the call itself belong.
  int32_t call(Operation *caller, StringRef callee, ArrayRef<Tensor> arguments,
               SmallVectorImpl<Tensor> &results);

  ModuleOp module;
  adrt_context *context;
  Observer *observer;      ///< or null
  int64_t kernelDepth = 0; ///< of named kernels that others consist of
  Semantics semantics;

private:
  SymbolTableCollection symbols;
  int64_t depth = 0;
};

/// The values of one function call. A loop overwrites the values of the iteration before.
class Frame {
public:
  explicit Frame(Interpreter &run) : run(run) {}

  const Tensor &operator[](Value value) const { return values.find(value)->second; }
  int64_t index(Value value) const { return (*this)[value].asIndex(); }
  SmallVector<int64_t> indices(ValueRange range) const;
  SmallVector<Tensor> all(ValueRange range) const;
  int32_t set(Value value, Tensor tensor) {
    values[value] = std::move(tensor);
    return ADRT_OK;
  }

  /// Runs the operations of `block`, whose arguments become `arguments`, and returns what its terminator
  /// yields.
  int32_t runBlock(Block &block, ArrayRef<Tensor> arguments, SmallVectorImpl<Tensor> &yielded);

  /// The shape of `type`, whose `?` are the given sizes in order.
  int32_t shape(Operation *op, RankedTensorType type, ValueRange sizes, SmallVectorImpl<int64_t> &shape);
  /// Fails unless a tensor of this shape can be held in memory.
  int32_t checkMemory(Operation *op, ElementType type, ArrayRef<int64_t> shape);

  /// A run-time error of the program.
  int32_t fail(Operation *op, adrt_failure kind, ArrayRef<int64_t> numbers);
  /// An operation that this interpreter does not run.
  int32_t refuse(Operation *op, const Twine &why);

  Interpreter &run;

private:
  int32_t runOperation(Operation *op);
  int32_t checkResults(Operation *op);
  /// Shows an operation that ran to the observer.
  int32_t observe(Operation *op, ArrayRef<Tensor> operands);

  llvm::DenseMap<Value, Tensor> values;
};

/// The location of an operation, as the runtime prints it. Owns the text.
class Site {
public:
  explicit Site(Operation *op) : Site(op->getLoc(), writtenName(op)) {}
  Site(Location loc, StringRef operation);
  const adrt_site *get() const { return &site; }

private:
  std::string location, operation;
  adrt_site site;
};

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_INTERPRETER_H
