// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The registry of kernel classes, and the choice of one for a kernel.

#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "adjoint/Dialect/AD/Transforms/NamedKernelOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::ad;

//===- Targets ------------------------------------------------------------===//

StringRef ad::nameOf(TargetKind kind) { return kind == TargetKind::cpu ? "cpu" : "gpu"; }

std::optional<TargetKind> ad::findTargetKind(StringRef name) {
  for (TargetKind kind : {TargetKind::cpu, TargetKind::gpu})
    if (nameOf(kind) == name)
      return kind;
  return std::nullopt;
}

//===- Classes and plans --------------------------------------------------===//

KernelPlan::~KernelPlan() = default;

void KernelPlan::print(raw_ostream &os) const {
  llvm::interleaveComma(facts(), os, [&](const Fact &fact) { os << fact.first << '=' << fact.second; });
}

KernelClass::~KernelClass() = default;

std::optional<KernelCost> KernelClass::cost(KernelOp kernel, const KernelPlan &) const {
  return costOfKernel(kernel);
}

//===- The registry -------------------------------------------------------===//

const KernelClassRegistry *KernelClassRegistry::get(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<ADDialect>();
  return dialect ? dialect->getRegisteredInterface<KernelClassRegistry>() : nullptr;
}

void KernelClassRegistry::add(ADDialect *dialect, Maker make) {
  auto *all = dialect->getRegisteredInterface<KernelClassRegistry>();
  if (!all) {
    dialect->addInterfaces<KernelClassRegistry>();
    all = dialect->getRegisteredInterface<KernelClassRegistry>();
  }
  if (llvm::is_contained(llvm::make_first_range(all->classes), make))
    return;
  std::unique_ptr<KernelClass> fresh = make();
  if (all->find(fresh->getName(), fresh->getTarget()))
    llvm::reportFatalUsageError("two kernel classes '" + fresh->getName() + "' for target " +
                                nameOf(fresh->getTarget()));
  // Sorted by benefit; of equal ones the first registered stays first.
  auto *position = llvm::find_if(
      all->classes, [&](const auto &known) { return known.second->getBenefit() < fresh->getBenefit(); });
  all->classes.insert(position, {make, std::move(fresh)});
}

const KernelClass *KernelClassRegistry::find(StringRef name, TargetKind target) const {
  for (const auto &[maker, known] : classes)
    if (known->getName() == name && known->getTarget() == target)
      return known.get();
  return nullptr;
}

bool KernelClassRegistry::isKnown(StringRef name) const {
  return find(name, TargetKind::cpu) || find(name, TargetKind::gpu);
}

std::string KernelClassRegistry::names() const {
  llvm::StringSet<> all;
  for (const auto &[maker, known] : classes)
    all.insert(known->getName());
  SmallVector<StringRef> sorted(all.keys());
  llvm::sort(sorted);
  return llvm::join(sorted, ", ");
}

SmallVector<const KernelClass *> KernelClassRegistry::classesOf(FusionOp fusion, TargetKind target) const {
  SmallVector<const KernelClass *> covering;
  for (const auto &[maker, known] : classes)
    if (known->getTarget() == target && known->covers(fusion))
      covering.push_back(known.get());
  return covering;
}

const KernelClass *KernelClassRegistry::classOf(FusionOp fusion, TargetKind target) const {
  for (const auto &[maker, known] : classes)
    if (known->getTarget() == target && known->covers(fusion))
      return known.get();
  return nullptr;
}

// The class that the kernel names, and the others that cover it.
static SmallVector<StringRef> namesOfClasses(KernelOp kernel) {
  SmallVector<StringRef> names = {kernel.getKernelClass()};
  if (auto others = kernel->getAttrOfType<ArrayAttr>(kOtherClassesAttr))
    for (auto name : others.getAsRange<StringAttr>())
      names.push_back(name);
  llvm::erase(names, kGenericClass);
  return names;
}

bool KernelClassRegistry::readsBeforeStoring(KernelOp kernel) const {
  SmallVector<StringRef> names = namesOfClasses(kernel);
  return llvm::all_of(llvm::make_second_range(classes), [&](const std::unique_ptr<KernelClass> &known) {
    return !llvm::is_contained(names, known->getName()) || known->readsBeforeStoring();
  });
}

unsigned KernelClassRegistry::highestBenefit(TargetKind target) const {
  unsigned highest = 0;
  for (const auto &[maker, known] : classes)
    if (known->getTarget() == target)
      highest = std::max(highest, known->getBenefit());
  return highest;
}

//===- The choice ---------------------------------------------------------===//

// A named kernel has no linalg that the generic class could run.
static LogicalResult requireNamedClass(KernelOp kernel, const KernelTarget &target, StringRef reason) {
  NamedKernelOpInterface named = namedKernelIn(kernel);
  if (!named)
    return success();
  return named->emitOpError("has no code on target ")
         << nameOf(target.kind) << ", since class " << kernel.getKernelClass()
         << " covers it, but refuses the kernel: " << reason << "; decompose it before fusion";
}

static ChosenClass findClass(KernelOp kernel, const KernelTarget &target,
                             const KernelClassRegistry &classes) {
  StringRef wanted = kernel.getKernelClass();
  std::string reason = wanted == kGenericClass ? "no other class covers it"
                                               : ("the target has no emitter for class " + wanted).str();
  for (StringRef name : namesOfClasses(kernel)) {
    const KernelClass *found = classes.find(name, target.kind);
    std::string whyNot;
    if (std::unique_ptr<KernelPlan> plan = found ? found->match(kernel, target, whyNot) : nullptr)
      return {found, std::move(plan), name == wanted ? "" : std::move(reason)};
    if (found && name == wanted)
      reason = std::move(whyNot);
  }
  if (failed(requireNamedClass(kernel, target, reason)))
    return {};
  std::string whyNotGeneric = "it has no generic class";
  const KernelClass *generic = classes.find(kGenericClass, target.kind);
  std::unique_ptr<KernelPlan> plan = generic ? generic->match(kernel, target, whyNotGeneric) : nullptr;
  if (plan)
    return {generic, std::move(plan), std::move(reason)};
  kernel.emitOpError("cannot be run on target ") << nameOf(target.kind) << ": " << whyNotGeneric;
  return {};
}

ChosenClass ad::chooseKernelClass(KernelOp kernel, const KernelTarget &target) {
  const KernelClassRegistry *classes = KernelClassRegistry::get(kernel.getContext());
  StringRef wanted = kernel.getKernelClass();
  if (!classes || !classes->isKnown(wanted)) {
    kernel.emitOpError("expected a registered kernel class, but got '")
        << wanted << "'; known are " << (classes ? classes->names() : "none");
    return {};
  }
  ChosenClass chosen = findClass(kernel, target, *classes);
  if (chosen.kernelClass && failed(chosen.kernelClass->verify(kernel, *chosen.plan, chosen.reason)))
    return {};
  return chosen;
}

void ad::reportKernelClass(KernelOp kernel, const ChosenClass &choice, StringRef category) {
  StringRef name = choice.kernelClass->getName();
  // A remark keeps no copy of its name.
  auto title = StringAttr::get(kernel.getContext(), name + "-class");
  auto options = remark::RemarkOpts::name(title).category(category);
  auto report = choice.reason.empty() ? remark::passed(kernel.getLoc(), options)
                                      : remark::missed(kernel.getLoc(), options);
  report << remark::metric("kernel", kernel.getSymName());
  if (!choice.reason.empty())
    report << remark::metric("reason", choice.reason);
  for (const KernelPlan::Fact &fact : choice.plan->facts())
    report << remark::metric(fact.first, fact.second);
  if (std::optional<KernelCost> cost = choice.kernelClass->cost(kernel, *choice.plan))
    report << remark::metric("work",
                             llvm::formatv("{0} bytes, {1} operations", cost->bytes, cost->operations).str());
}
