// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The classes of kernels. A class is a name and what one target does with the kernels that have it: whether
// it covers a cluster of operations, how it would run a kernel (its plan), what that costs, and the code. Any
// compiler registers classes of its own, as Adjoint does:
//
//   ad::registerKernelClass<MyClass>(registry);
//
// MyClass derives from CPUKernelClass or GPUKernelClass, and has a constructor without arguments.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_KERNELCLASS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_KERNELCLASS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/IR/DialectInterface.h"
#include <memory>

namespace mlir::ad {

/// The names of Adjoint's classes. Every target has an emitter for kGenericClass, which covers every kernel.
constexpr llvm::StringLiteral kElementwiseClass = "elementwise", kRowClass = "row",
                              kContractionClass = "contraction", kTranspositionClass = "transposition",
                              kScanClass = "scan", kScatterClass = "scatter", kSortClass = "sort",
                              kGenericClass = "generic";

/// Adjoint's classes have benefits up to this one. Fusion keeps a cluster of a class with a higher benefit
/// apart from what the class does not cover.
constexpr unsigned kHighestOwnBenefit = 4;
/// `runsWell` of Adjoint's own classes is asked about clusters with a contraction, or with a reduction over
/// so many elements of the last axis: a block of a GPU goes through them in the time of several launches.
constexpr int64_t kLongRow = 128 * 1024;

enum class TargetKind { cpu, gpu };
StringRef nameOf(TargetKind kind);
std::optional<TargetKind> findTargetKind(StringRef name);

/// What code is generated for. Each kind of target has a type of its own (CPUKernelClass.h,
/// GPUKernelClass.h).
struct KernelTarget {
  explicit KernelTarget(TargetKind kind) : kind(kind) {}
  TargetKind kind;
};

/// How a class would run a kernel: what `match` found, and what `cost` and `emit` work from.
class KernelPlan {
public:
  virtual ~KernelPlan();

  /// What was decided, as names and values: metrics of the remark that names the class of a kernel.
  using Fact = std::pair<StringRef, std::string>;
  virtual SmallVector<Fact> facts() const { return {}; }

  /// All facts in one line, `NAME=VALUE, …`.
  void print(raw_ostream &os) const;
};

/// What one execution of a kernel takes, whatever the speed of the machine.
struct KernelCost {
  int64_t bytes = 0;      ///< read and written, each tensor of the host program once
  int64_t operations = 0; ///< scalar operations, those that are repeated each time
};

/// None if sizes are dynamic or the body is not linalg on tensors. Each value is computed once; with
/// `recomputes`, as often as it is read.
std::optional<KernelCost> costOfKernel(KernelOp kernel, bool recomputes = false);

/// A class of kernels on one target.
class KernelClass {
public:
  virtual ~KernelClass();

  StringRef getName() const { return name; }
  TargetKind getTarget() const { return target; }
  /// Of all classes that cover a cluster the one with the highest benefit is taken. Adjoint's have 0 to 4.
  unsigned getBenefit() const { return benefit; }

  /// Whether a cluster of operations of `ad` and other dialects has this class. Cheap: it looks at the
  /// operations only. The fusion may be a trial, which is in no function, and without results.
  virtual bool covers(FusionOp fusion) const = 0;

  /// Whether a kernel of this class for a cluster that it covers is as fast as kernels for the parts of the
  /// cluster. Fusion joins no clusters into one of which the best class says that it is not. As `covers`, it
  /// looks at the operations only.
  virtual bool runsWell(FusionOp fusion) const { return true; }

  /// The plan for a kernel in linalg; null, and the reason, if this class cannot run it. Changes nothing.
  virtual std::unique_ptr<KernelPlan> match(KernelOp kernel, const KernelTarget &target,
                                            std::string &reason) const = 0;

  /// Fails after a diagnostic if the plan does not give the bits that the kernel demands. `whyNotNamed`: why
  /// the kernel has not the class that it names; empty if it has.
  virtual LogicalResult verify(KernelOp kernel, const KernelPlan &plan, StringRef whyNotNamed) const {
    return success();
  }

  /// Whether the code computes all values of a point before it stores the first of them, and, if all
  /// reductions are over rows, those of a row before it stores an element of the row. Then a result may have
  /// the memory of an argument that is read only there. Otherwise no result has that of an argument.
  virtual bool readsBeforeStoring() const { return false; }

  /// None if it is not known.
  virtual std::optional<KernelCost> cost(KernelOp kernel, const KernelPlan &plan) const;

protected:
  /// The name must be a literal.
  KernelClass(StringRef name, TargetKind target, unsigned benefit)
      : name(name), target(target), benefit(benefit) {}

private:
  StringRef name;
  TargetKind target;
  unsigned benefit;
};

/// The classes that a context knows.
class KernelClassRegistry : public DialectInterface::Base<KernelClassRegistry> {
public:
  using Maker = std::unique_ptr<KernelClass> (*)();

  explicit KernelClassRegistry(Dialect *dialect) : Base(dialect) {}

  /// Null if nobody registered a class.
  static const KernelClassRegistry *get(MLIRContext *context);

  /// Adds a class, once for each maker. Two classes of one name and target are an error of the program that
  /// registers them, which ends it.
  static void add(ADDialect *dialect, Maker make);

  /// Null if no class has the name on the target.
  const KernelClass *find(StringRef name, TargetKind target) const;
  /// Whether a class has the name on any target.
  bool isKnown(StringRef name) const;
  /// The names on all targets, sorted, for diagnostics.
  std::string names() const;

  /// Those of the target that cover the cluster, the highest benefit first.
  SmallVector<const KernelClass *> classesOf(FusionOp fusion, TargetKind target) const;
  /// The class of the highest benefit that covers the cluster; null without any.
  const KernelClass *classOf(FusionOp fusion, TargetKind target) const;
  /// Whether all classes that may run the kernel, on any target, read before they store.
  bool readsBeforeStoring(KernelOp kernel) const;
  /// The highest benefit of a class for the target; 0 without any.
  unsigned highestBenefit(TargetKind target) const;

private:
  SmallVector<std::pair<Maker, std::unique_ptr<KernelClass>>> classes;
};

/// Makes a class known to every context that loads `ad` through the registry.
template <typename Class> void registerKernelClass(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, ADDialect *dialect) {
    KernelClassRegistry::add(dialect, [] { return std::unique_ptr<KernelClass>(std::make_unique<Class>()); });
  });
}

/// Who runs a kernel on a target, and how.
struct ChosenClass {
  const KernelClass *kernelClass = nullptr; ///< null after a diagnostic
  std::unique_ptr<KernelPlan> plan;
  std::string reason; ///< why the class is not the one that the kernel names, or is generic; else empty
};

/// Of a fusion or kernel of another compiler's class: the names of the other classes that cover it, which are
/// asked in this order if that class has no plan.
constexpr llvm::StringLiteral kOtherClassesAttr = "ad.other_classes";

/// The class that the kernel names if it has a plan, else the first of the other classes that has one, else
/// the generic one. A name that no class has, a kernel that no class can run, and one that the class does not
/// verify are diagnostics.
ChosenClass chooseKernelClass(KernelOp kernel, const KernelTarget &target);

/// Reports the choice as a remark of `category`: the class as passed, with the facts of its plan and what it
/// says of the cost, the generic class as missed, with the reason.
void reportKernelClass(KernelOp kernel, const ChosenClass &choice, StringRef category);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_KERNELCLASS_H
