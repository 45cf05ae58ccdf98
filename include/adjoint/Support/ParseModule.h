// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Modules of files, as text or as bytecode. MLIR's parser, verifier and passes recurse as deep as a module is
// nested, and messages open the files that its locations name, so both are limited here.

#ifndef ADJOINT_SUPPORT_PARSEMODULE_H
#define ADJOINT_SUPPORT_PARSEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace mlir::ad {

/// For a source manager that opens no file but those that it is given.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> noFiles();

/// The verified module in the main file of `sources`, or null after an error that says where and why: text
/// with control characters, text or operations that are nested too deeply, and what the parser and the
/// verifier refuse.
OwningOpRef<ModuleOp> parseModule(const llvm::SourceMgr &sources, MLIRContext *context);

/// The module as it was read, without any of these checks; errors about attributes do not print what cannot
/// be printed.
OwningOpRef<ModuleOp> readModule(const llvm::SourceMgr &sources, MLIRContext *context);

/// Fails with an error at the first operation that is nested deeper than `kMaxNesting`, or whose attributes,
/// types or locations are, or that has an array of other things than numbers. It does not recurse; the module
/// is then given up without being freed, since its destructor would.
LogicalResult verifyDepth(OwningOpRef<ModuleOp> &module);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_PARSEMODULE_H
