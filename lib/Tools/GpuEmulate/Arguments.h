// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments of a kernel from the command line. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_GPUEMULATE_ARGUMENTS_H
#define ADJOINT_LIB_TOOLS_GPUEMULATE_ARGUMENTS_H

#include "Options.h"
#include "adjoint/Support/Tensor.h"

#include <array>
#include <memory>

namespace mlir::ad::emulator {

class Arguments {
public:
  static llvm::Expected<std::unique_ptr<Arguments>> create(const ToolOptions &options);

  std::vector<void *> pointers();
  std::vector<adsim::MemoryRange> ranges() const;
  /// Writes the arrays that the kernel may have changed to the files of --out.
  llvm::Error writeOutputs(llvm::ArrayRef<std::string> paths);

private:
  struct Array {
    runner::Tensor tensor;
    bool writable = false;
  };
  /// The value that is passed to the kernel: a pointer, a number, or a tensor map.
  struct Value {
    alignas(64) std::array<unsigned char, adsim::tensorMapBytes> bytes{};
  };

  llvm::Error add(llvm::StringRef text);
  llvm::Error addScalar(llvm::StringRef type, llvm::StringRef number, Value &value);
  llvm::Error addMap(llvm::StringRef text, Value &value);
  llvm::Error addSame(llvm::StringRef number, Value &value);
  /// Null for numbers.
  llvm::Expected<Array *> readArray(llvm::StringRef text);
  llvm::Error createOutput(llvm::StringRef text, Array &array);

  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<std::unique_ptr<Value>> values;
};

} // namespace mlir::ad::emulator

#endif // ADJOINT_LIB_TOOLS_GPUEMULATE_ARGUMENTS_H
