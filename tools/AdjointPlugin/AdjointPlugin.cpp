// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The dialects and passes for drivers of MLIR that load plug-ins:
//
//   mlir-opt --load-dialect-plugin=AdjointPlugin.so --load-pass-plugin=AdjointPlugin.so --pass-pipeline=…
#include "adjoint/InitAllDialects.h"
#include "adjoint/InitAllPasses.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

// Whoever loads it twice, or into a driver that links Adjoint, has what it registers: that is no error.
static void sayThatItIsThere(const char *what) {
  llvm::errs() << "AdjointPlugin: the driver has Adjoint's " << what
               << " already, so the plug-in adds none\n";
}

static void registerDialects(DialectRegistry *registry) {
  if (registry->getDialectAllocator(ad::ADDialect::getDialectNamespace()))
    return sayThatItIsThere("dialects");
  ad::registerAdjointDialects(*registry);
  ad::registerKernelClasses(*registry);
}

static void registerPasses() {
  if (PassInfo::lookup("ad-fuse"))
    return sayThatItIsThere("passes");
  ad::registerAdjointPasses();
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Adjoint", ADJOINT_VERSION, registerDialects};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Adjoint", ADJOINT_VERSION, registerPasses};
}
