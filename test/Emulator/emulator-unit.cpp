// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The emulated machine as a library, without LLVM. Launches end with a finding, an interruption or success,
// and none of them affects later launches. The kernels are C++ functions.
#include "ExpectText.h"
#include "Functions.h"
#include "Numbers.h"
#include "State/Worker.h"

#include <array>
#include <cstring>

using namespace adsim;

namespace {

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

/// A launch of `countThreads` over `counts`.
Launch makeCounting(std::vector<uint32_t> &counts, unsigned hostThreads) {
  Launch launch = makeLaunch(64, 96);
  launch.detectRaces = false;
  launch.hostThreads = hostThreads;
  launch.memory = {{counts.data(), counts.size() * 4, true}};
  return launch;
}

Result runCounting(std::vector<uint32_t> &counts, const Launch &launch, Statistics *statistics = nullptr) {
  uint32_t *pointer = counts.data();
  void *arguments[] = {&pointer};
  return adsim::launch(makeKernel(countThreads), arguments, launch, statistics);
}

class HostThreads : public testing::TestWithParam<unsigned> {
protected:
  std::vector<uint32_t> counts = std::vector<uint32_t>(64 * 96, ~0u);
};
INSTANTIATE_TEST_SUITE_P(Launches, HostThreads, testing::Values(1, 4), testing::PrintToStringParamName());

TEST_P(HostThreads, RunEveryThreadOnceAndAddUpStatistics) {
  Statistics statistics;
  Result result = runCounting(counts, makeCounting(counts, GetParam()), &statistics);
  EXPECT_TRUE(result.ok()) << result.message;
  for (uint32_t i = 0; i < counts.size(); ++i)
    ASSERT_EQ(counts[i], i);
  EXPECT_EQ(statistics.threads, counts.size());
  EXPECT_EQ(statistics.stores, counts.size());
}

// A second range over the same memory, such as that of a donated argument, does not remove permissions.
TEST_P(HostThreads, WriteWhereOneOfSeveralRangesAllowsIt) {
  Launch launch = makeCounting(counts, GetParam());
  launch.memory.push_back({counts.data(), 8, false});
  EXPECT_TRUE(runCounting(counts, launch).ok());
  launch.memory[0].writable = false;
  Result result = runCounting(counts, launch);
  EXPECT_EQ(result.failure, Failure::OutOfBounds);
  EXPECT_EQ(result.location, "unit:1:1");
}

TEST(Failures, TheFirstCtaThatFailsIsNamed) {
  for (int repeat = 0; repeat < 5; ++repeat) {
    Launch launch = makeLaunch(200, 64);
    launch.detectRaces = false;
    launch.hostThreads = 4;
    Result result = adsim::launch(makeKernel(trapInSomeCtas), nullptr, launch);
    EXPECT_EQ(result.failure, Failure::Trap);
    EXPECT_TEXT(result.message, "CTA (37, 0, 0), thread (5, 0, 0)");
  }
}

TEST(Failures, AKernelThatNeverEndsCanBeInterrupted) {
  Launch launch = makeLaunch(1, 32);
  int polls = 0;
  launch.interrupted = [&] { return ++polls > 3; };
  Result result = adsim::launch(makeKernel(waitForever, 64), nullptr, launch);
  EXPECT_EQ(result.failure, Failure::Interrupted);
}

Failure failureOf(const KernelCode &code, uint32_t grid, uint32_t block) {
  return adsim::launch(code, nullptr, makeLaunch(grid, block)).failure;
}

TEST(Shapes, TooManyThreadsAreRefused) {
  EXPECT_EQ(failureOf(makeKernel(countThreads), 1, 2048), Failure::InvalidLaunch);
}

TEST(Shapes, AnEmptyGridIsRefused) {
  EXPECT_EQ(failureOf(makeKernel(countThreads), 0, 32), Failure::InvalidLaunch);
}

TEST(Shapes, AGridOfHalfClustersIsRefused) {
  KernelCode code = makeKernel(countThreads);
  code.cluster[0] = 2, code.cluster[1] = code.cluster[2] = 1;
  EXPECT_EQ(failureOf(code, 3, 32), Failure::InvalidLaunch);
}

TEST(Shapes, TooMuchSharedMemoryIsRefused) {
  EXPECT_EQ(failureOf(makeKernel(countThreads, 228 << 10), 1, 32), Failure::InvalidLaunch);
}

/// What the thread sees of its grid and cluster.
void readShape(void **arguments) {
  Thread *self = adsim_self();
  auto &shape = *static_cast<std::array<uint32_t, 6> *>(arguments[0]);
  for (int axis = 0; axis < 3; ++axis) {
    shape[axis] = self->registers[NctaidX + axis];
    shape[3 + axis] = self->registers[ClusterNctaidX + axis];
  }
}

TEST(Shapes, WithoutAClusterEachBlockIsItsOwn) {
  Launch launch;
  for (uint32_t size : {launch.cluster.x, launch.cluster.y, launch.cluster.z})
    EXPECT_EQ(size, 1u);
  launch.grid = {3, 5, 7};
  launch.block = {1, 1, 1};
  std::array<uint32_t, 6> shape = {};
  void *arguments[] = {&shape};
  Result result = adsim::launch(makeKernel(readShape), arguments, launch);
  EXPECT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(shape, (std::array<uint32_t, 6>{3, 5, 7, 1, 1, 1}));
}

TEST(Shapes, SizesThatNobodySetsAreOne) {
  Launch launch;
  std::array<uint32_t, 6> shape = {};
  void *arguments[] = {&shape};
  EXPECT_TRUE(adsim::launch(makeKernel(readShape), arguments, launch).ok());
  EXPECT_EQ(shape, (std::array<uint32_t, 6>{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(launch.block.count(), 1u);
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

TEST(Wgmma, TakesAFromRegisters) {
  std::vector<uint32_t> right(128);
  uint32_t *pointer = right.data();
  void *arguments[] = {&pointer};
  Result result = adsim::launch(makeKernel(multiplyFromRegisters, 1024), arguments, makeLaunch(1, 128));
  EXPECT_TRUE(result.ok()) << result.message;
  EXPECT_EQ(right, std::vector<uint32_t>(128, 1));
}

enum class Mistake {
  None,
  WriteInFlight,
  ReadInFlight,
  ReadUncommitted,
  OtherShape,
  NoFence,
  NoFenceAfterRead
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
  multiply(mistake == Mistake::OtherShape ? 16
                                          : 8); // consecutive wgmma of one shape need no fence between them
  adsim_wgmma_commit(self, 0);
  adsim_wgmma_wait(self, 0, 0);
  access(false);
  access(true);
  if (mistake != Mistake::NoFenceAfterRead)
    adsim_wgmma_fence(self, 0);
  multiply(8);
  adsim_wgmma_commit(self, 0);
  adsim_wgmma_wait(self, 0, 0);
}

std::string messageOf(Mistake mistake) {
  void *arguments[] = {&mistake};
  return adsim::launch(makeKernel(multiplyTwice, 1024), arguments, makeLaunch(1, 128)).message;
}

TEST(Wgmma, RightUsesOfAccumulatorsAreAccepted) { EXPECT_EQ(messageOf(Mistake::None), ""); }

struct MistakeCase {
  const char *name;
  Mistake mistake;
  const char *text;
};

class WgmmaMistakes : public testing::TestWithParam<MistakeCase> {};
INSTANTIATE_TEST_SUITE_P(
    Accumulators, WgmmaMistakes,
    testing::Values(
        MistakeCase{"WriteInFlight", Mistake::WriteInFlight, "write to accumulators of a wgmma in flight"},
        MistakeCase{"ReadInFlight", Mistake::ReadInFlight, "read of accumulators of a wgmma in flight"},
        MistakeCase{"ReadUncommitted", Mistake::ReadUncommitted, "read of accumulators of a wgmma in flight"},
        MistakeCase{"OtherShape", Mistake::OtherShape,
                    "after one of another shape with the same accumulators"},
        MistakeCase{"NoFence", Mistake::NoFence, "wgmma without a wgmma.fence before it"},
        MistakeCase{"NoFenceAfterRead", Mistake::NoFenceAfterRead,
                    "after the last access to its accumulators"}),
    [](const auto &info) { return info.param.name; });

TEST_P(WgmmaMistakes, AreNamed) {
  std::string found = messageOf(GetParam().mistake);
  EXPECT_EQ(found.find("register misuse in kernel 'unit'"), 0u) << found;
  EXPECT_TEXT(found, GetParam().text);
}

/// Requests some registers, as setmaxnreg.inc or .dec.
void setRegisters(void **arguments) {
  const auto *wanted = static_cast<uint32_t *>(arguments[0]);
  adsim_set_max_registers(adsim_self(), wanted[0], wanted[1], 0);
}

/// What a kernel launched with so many registers says when its threads request `count`.
std::string messageOf(uint32_t launched, uint32_t count, bool increases) {
  uint32_t wanted[] = {count, increases};
  void *arguments[] = {wanted};
  KernelCode code = makeKernel(setRegisters);
  code.registers = launched;
  return adsim::launch(code, arguments, makeLaunch(1, 384)).message;
}

TEST(RegisterCounts, CanBeGivenUp) { EXPECT_EQ(messageOf(168, 40, false), ""); }

TEST(RegisterCounts, AnIncreaseToFewerIsRefused) {
  EXPECT_TEXT(messageOf(168, 160, true), "setmaxnreg.inc to 160 registers in a thread that has 168");
}

TEST(RegisterCounts, ADecreaseToMoreIsRefused) {
  EXPECT_TEXT(messageOf(168, 176, false), "setmaxnreg.dec to 176 registers in a thread that has 168");
}

TEST(RegisterCounts, AnIncreaseThatNobodyMakesRoomForIsADeadlock) {
  EXPECT_TEXT(messageOf(168, 176, true), "wait for registers of other warps");
}

// 384 threads can have 168 registers each; ptxas may have assigned fewer.
TEST(RegisterCounts, UnknownOnesMayGrowToWhatFits) {
  EXPECT_EQ(messageOf(0, 160, true), "");
  EXPECT_TEXT(messageOf(0, 176, true), "wait for registers of other warps");
}

TEST(Halves, GoToF32AndBack) {
  for (uint32_t bits = 0; bits < 1u << 16; ++bits) {
    float wide = fromF16(static_cast<uint16_t>(bits));
    if ((bits & 0x7fff) > 0x7c00)
      ASSERT_NE(wide, wide) << bits;
    else
      ASSERT_EQ(toF16(wide), bits);
  }
}

TEST(Halves, RoundToInfinityAtHalfAStep) {
  EXPECT_EQ(toF16(65519.996f), 0x7bff);
  EXPECT_EQ(toF16(65520.0f), 0x7c00);
}

TEST(Halves, RoundSubnormalsToEven) {
  EXPECT_EQ(toF16(0x1p-25f), 0);
  EXPECT_EQ(toF16(0x1.000002p-25f), 1);
}

} // namespace
