// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The emulated machine as a library, without LLVM: launches end by a finding, by an interruption or well, and
// the machine is as good as new after each. Kernels are functions here.
#include "Instructions/Functions.h"
#include "Instructions/Numbers.h"

#include <cstdio>
#include <cstring>

using namespace adsim;

namespace {

int run = 0, failures = 0;

void expect(bool condition, const char *what) {
  ++run;
  if (condition)
    return;
  ++failures;
  std::printf("failed: %s\n", what);
}

constexpr char siteText[] = "unit:1:1\0unit.op";
constexpr uint32_t siteOffsets[] = {0, 9};

KernelCode makeKernel(void (*entry)(void **), uint32_t sharedBytes = 0) {
  KernelCode code{};
  code.name = "unit";
  code.entry = entry;
  code.siteText = siteText;
  code.siteOffsets = siteOffsets;
  code.siteCount = 1;
  code.staticSharedBytes = sharedBytes;
  return code;
}

Launch makeLaunch(uint32_t grid, uint32_t block) {
  Launch launch;
  launch.grid.x = grid;
  launch.block.x = block;
  return launch;
}

void countThreads(void **arguments) {
  Thread *self = adsim_self();
  auto *counts = *static_cast<uint32_t **>(arguments[0]);
  uint32_t at = self->registers[CtaidX] * self->registers[NtidX] + self->registers[TidX];
  adsim_barrier(self, 0, 0, 0, 0, 0);
  adsim_access(self, counts + at, 4, AccessGlobal | AccessWrite | 2 << accessAlignShift, 0);
  counts[at] = at;
}

void trapInSomeCtas(void **) {
  Thread *self = adsim_self();
  adsim_barrier(self, 0, 0, 0, 0, 0);
  if (self->registers[CtaidX] >= 37 && self->registers[TidX] == 5)
    adsim_trap(self, 0);
}

void waitForever(void **) {
  Thread *self = adsim_self();
  if (!self->registers[TidX])
    adsim_mbarrier_init(self, self->shared, 1, 1, 0);
  adsim_barrier(self, 0, 0, 0, 0, 0);
  while (!adsim_mbarrier_wait(self, self->shared, 0, 1, static_cast<uint32_t>(WaitKind::Test),
                              static_cast<uint32_t>(MBarrierScope::Cta), 0)) {
  }
}

void checkThreads() {
  std::vector<uint32_t> counts(64 * 96);
  uint32_t *pointer = counts.data();
  void *arguments[] = {&pointer};
  for (unsigned hostThreads : {1u, 4u}) {
    std::fill(counts.begin(), counts.end(), ~0u);
    Launch launch = makeLaunch(64, 96);
    launch.detectRaces = false;
    launch.hostThreads = hostThreads;
    launch.memory = {{counts.data(), counts.size() * 4, true}};
    Statistics statistics;
    Result result = adsim::launch(makeKernel(countThreads), arguments, launch, &statistics);
    bool right = true;
    for (uint32_t i = 0; i < counts.size(); ++i)
      right &= counts[i] == i;
    expect(result.ok() && right, "every thread runs once");
    expect(statistics.threads == counts.size() && statistics.stores == counts.size(),
           "statistics of all workers add up");
    // A second range over the same memory, as donated arguments make it, takes nothing away.
    launch.memory.push_back({counts.data(), 8, false});
    expect(adsim::launch(makeKernel(countThreads), arguments, launch).ok(), "ranges may overlap");
    launch.memory[0].writable = false;
    result = adsim::launch(makeKernel(countThreads), arguments, launch);
    expect(result.failure == Failure::OutOfBounds && result.location == "unit:1:1",
           "read-only memory is not written");
  }
}

void checkFirstFailure() {
  for (int repeat = 0; repeat < 5; ++repeat) {
    Launch launch = makeLaunch(200, 64);
    launch.detectRaces = false;
    launch.hostThreads = 4;
    Result result = adsim::launch(makeKernel(trapInSomeCtas), nullptr, launch);
    bool first = result.message.find("CTA (37, 0, 0), thread (5, 0, 0)") != std::string::npos;
    expect(result.failure == Failure::Trap && first, "the failure of the first CTA is the one that is told");
  }
}

void checkInterruption() {
  Launch launch = makeLaunch(1, 32);
  int asked = 0;
  launch.interrupted = [&] { return ++asked > 3; };
  Result result = adsim::launch(makeKernel(waitForever, 64), nullptr, launch);
  expect(result.failure == Failure::Interrupted, "a kernel that never ends can be interrupted");
}

void checkShapes() {
  KernelCode code = makeKernel(countThreads);
  expect(adsim::launch(code, nullptr, makeLaunch(1, 2048)).failure == Failure::InvalidLaunch,
         "too many threads");
  expect(adsim::launch(code, nullptr, makeLaunch(0, 32)).failure == Failure::InvalidLaunch, "an empty grid");
  code.cluster[0] = 2, code.cluster[1] = code.cluster[2] = 1;
  expect(adsim::launch(code, nullptr, makeLaunch(3, 32)).failure == Failure::InvalidLaunch,
         "a grid of half clusters");
  code = makeKernel(countThreads, 228 << 10);
  expect(adsim::launch(code, nullptr, makeLaunch(1, 32)).failure == Failure::InvalidLaunch,
         "too much shared memory");
}

/// A from registers: row r has the value r + 1 at k = 0 and zero elsewhere; B is one everywhere.
void multiplyFromRegisters(void **arguments) {
  Thread *self = adsim_self();
  constexpr uint32_t columns = 8, rowBytes = 32, ones = 0x3f803f80;
  uint32_t tid = self->registers[TidX], rank = tid % 32;
  if (tid < columns)
    for (uint32_t at = 0; at < rowBytes; at += 4) {
      char *to = self->shared + tid * rowBytes + at;
      adsim_access(self, to, 4, AccessShared | AccessWrite, 0);
      std::memcpy(to, &ones, 4);
    }
  adsim_fence(self, static_cast<uint32_t>(FenceKind::ProxyAsync), 0);
  adsim_barrier(self, 0, 0, 0, 0, 0);
  uint32_t row = tid / 32 * 16 + rank / 4, a[4] = {}, sums[4] = {};
  if (rank % 4 == 0) {
    a[0] = bitsOfFloat(static_cast<float>(row + 1)) >> 16;
    a[1] = bitsOfFloat(static_cast<float>(row + 9)) >> 16;
  }
  uint64_t descriptor = uint64_t(8 * rowBytes >> 4) << 32 | uint64_t(3) << 62;
  auto kind = static_cast<uint32_t>(ElementKind::BF16);
  uint32_t kinds = kind | kind << 8 | static_cast<uint32_t>(ElementKind::F32) << 16;
  adsim_wgmma_fence(self, 0);
  adsim_wgmma(self, sums, a, 0, descriptor, columns, kinds, /*flags=*/4, /*accumulators=*/0, 0);
  adsim_wgmma_commit(self, 0);
  adsim_wgmma_wait(self, 0, 0);
  bool right = floatFromBits(sums[0]) == static_cast<float>(row + 1) &&
               floatFromBits(sums[1]) == static_cast<float>(row + 1) &&
               floatFromBits(sums[2]) == static_cast<float>(row + 9) &&
               floatFromBits(sums[3]) == static_cast<float>(row + 9);
  (*static_cast<uint32_t **>(arguments[0]))[tid] = right;
}

void checkRegisterOperands() {
  std::vector<uint32_t> right(128);
  uint32_t *pointer = right.data();
  void *arguments[] = {&pointer};
  Result result = adsim::launch(makeKernel(multiplyFromRegisters, 1024), arguments, makeLaunch(1, 128));
  expect(result.ok(), result.message.c_str());
  uint32_t sum = 0;
  for (uint32_t each : right)
    sum += each;
  expect(sum == right.size(), "wgmma takes A from registers");
}

enum class Mistake {
  None,
  WriteInFlight,
  ReadInFlight,
  ReadUncommitted,
  OtherShape,
  NoFence,
  NoFenceBehindRead
};

/// Two products of zeros in the same accumulators, with one mistake.
void multiplyTwice(void **arguments) {
  Thread *self = adsim_self();
  auto mistake = *static_cast<Mistake *>(arguments[0]);
  auto kind = static_cast<uint32_t>(ElementKind::BF16);
  uint32_t kinds = kind | kind << 8 | static_cast<uint32_t>(ElementKind::F32) << 16;
  uint32_t a[4] = {}, sums[8] = {}, zero = 0;
  if (self->registers[TidX] < 128)
    for (uint32_t at = 0; at < 8; at += 4) {
      char *to = self->shared + self->registers[TidX] * 8 + at;
      adsim_access(self, to, 4, AccessShared | AccessWrite, 0);
      std::memcpy(to, &zero, 4);
    }
  adsim_fence(self, static_cast<uint32_t>(FenceKind::ProxyAsync), 0);
  adsim_barrier(self, 0, 0, 0, 0, 0);
  auto multiply = [&](uint32_t columns) { adsim_wgmma(self, sums, a, 0, 0, columns, kinds, 4, 7, 0); };
  auto access = [&](bool writes) { adsim_accumulators(self, 7, writes, 0); };
  if (mistake != Mistake::NoFence)
    adsim_wgmma_fence(self, 0);
  multiply(8);
  if (mistake == Mistake::ReadUncommitted)
    adsim_wgmma_wait(self, 0, 0), access(false);
  adsim_wgmma_commit(self, 0);
  if (mistake == Mistake::WriteInFlight || mistake == Mistake::ReadInFlight)
    access(mistake == Mistake::WriteInFlight);
  multiply(mistake == Mistake::OtherShape ? 16 : 8); // of one shape, one after the other needs no fence
  adsim_wgmma_commit(self, 0);
  adsim_wgmma_wait(self, 0, 0);
  access(false);
  access(true);
  if (mistake != Mistake::NoFenceBehindRead)
    adsim_wgmma_fence(self, 0);
  multiply(8);
  adsim_wgmma_commit(self, 0);
  adsim_wgmma_wait(self, 0, 0);
}

void checkAccumulators() {
  auto failureOf = [](Mistake mistake) {
    void *arguments[] = {&mistake};
    return adsim::launch(makeKernel(multiplyTwice, 1024), arguments, makeLaunch(1, 128)).message;
  };
  expect(failureOf(Mistake::None).empty(), failureOf(Mistake::None).c_str());
  auto finds = [&](Mistake mistake, const char *text) {
    std::string found = failureOf(mistake);
    expect(found.find("register misuse in kernel 'unit'") == 0 && found.find(text) != std::string::npos,
           (std::string(text) + ": " + found).c_str());
  };
  finds(Mistake::WriteInFlight, "write to accumulators of a wgmma in flight");
  finds(Mistake::ReadInFlight, "read of accumulators of a wgmma in flight");
  finds(Mistake::ReadUncommitted, "read of accumulators of a wgmma in flight");
  finds(Mistake::OtherShape, "behind one of another shape with the same accumulators");
  finds(Mistake::NoFence, "wgmma without a wgmma.fence before it");
  finds(Mistake::NoFenceBehindRead, "behind the last access to its accumulators");
}

/// Asks for some registers, as setmaxnreg.inc or .dec.
void setRegisters(void **arguments) {
  const auto *wanted = static_cast<uint32_t *>(arguments[0]);
  adsim_set_max_registers(adsim_self(), wanted[0], wanted[1], 0);
}

void checkRegisterCounts() {
  auto failureOf = [](uint32_t launched, uint32_t count, bool increases) {
    uint32_t wanted[] = {count, increases};
    void *arguments[] = {wanted};
    KernelCode code = makeKernel(setRegisters);
    code.registers = launched;
    return adsim::launch(code, arguments, makeLaunch(1, 384)).message;
  };
  auto has = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
  expect(failureOf(168, 40, false).empty(), "a kernel of 168 registers gives some up");
  expect(has(failureOf(168, 160, true), "setmaxnreg.inc to 160 registers in a thread that has 168"),
         "an increase to fewer registers");
  expect(has(failureOf(168, 176, false), "setmaxnreg.dec to 176 registers in a thread that has 168"),
         "a decrease to more registers");
  expect(has(failureOf(168, 176, true), "wait for registers of others"),
         "an increase that nobody makes room for");
  // 384 threads can have 168 each; the assembler may have given them less.
  expect(failureOf(0, 160, true).empty(), "an increase from a count that is not known");
  expect(has(failureOf(0, 176, true), "wait for registers of others"), "more registers than there are");
}

void checkHalves() {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 1u << 16; ++bits) {
    float wide = fromF16(static_cast<uint16_t>(bits));
    bool nan = (bits & 0x7fff) > 0x7c00;
    wrong += nan ? wide == wide : toF16(wide) != bits;
  }
  expect(wrong == 0, "f16 goes to f32 and back");
  expect(toF16(65519.996f) == 0x7bff && toF16(65520.0f) == 0x7c00, "f16 rounds to infinity at half a step");
  expect(toF16(0x1p-25f) == 0 && toF16(0x1.000002p-25f) == 1, "f16 rounds subnormals to even");
}

} // namespace

int main() {
  checkThreads();
  checkFirstFailure();
  checkInterruption();
  checkShapes();
  checkRegisterOperands();
  checkAccumulators();
  checkRegisterCounts();
  checkHalves();
  std::printf("%d run, %d failed\n", run, failures);
  return failures != 0;
}
