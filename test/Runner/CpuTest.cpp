// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of CPUs by name: code for each uses its own vector registers.
#include "TestUtils.h"
#include "adjoint/Runner/Compile/Compile.h"

using namespace mlir::ad::runner;

static int64_t vectorBytes(llvm::StringRef name) {
  llvm::Expected<CpuTarget> cpu = findCpu(name);
  if (cpu)
    return cpu->vectorBytes;
  // This machine cannot execute code for that CPU.
  return consumeExitError(cpu.takeError()).first == ExitNoTarget ? -1 : 0;
}

TEST(Cpu, NamedCPUsHaveTheirOwnVectors) {
  EXPECT_EQ(vectorBytes("x86-64"), 16);
  for (auto [name, bytes] : {std::pair{"haswell", 32}, {"x86-64-v3", 32}, {"x86-64-v4", 64}})
    EXPECT_TRUE(vectorBytes(name) == bytes || vectorBytes(name) == -1);
}

TEST(Cpu, CodeNeedsNoExtensionThatItMayNotUse) {
  std::vector<CpuTarget> cpus = {hostCpu()};
  for (llvm::StringRef name : {"znver3", "btver2", "x86-64"})
    cpus.push_back(llvm::cantFail(findCpu(name, /*elsewhere=*/true)));
  for (const CpuTarget &cpu : cpus) {
    EXPECT_TRUE(llvm::StringRef(cpu.featureString()).contains("-sse4a")) << cpu.cpu;
    EXPECT_FALSE(llvm::is_contained(cpu.needed, "sse4a")) << cpu.cpu;
  }
}

TEST(Cpu, ThisMachineHasTheVectorsOfItsFeatures) {
  CpuTarget host = hostCpu();
  bool wide = llvm::is_contained(host.features, "+avx512f");
  EXPECT_EQ(host.vectorBytes == 64, wide);
  EXPECT_EQ(vectorBytes("native"), host.vectorBytes);
}
