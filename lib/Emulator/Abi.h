/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The ABI between compiled kernels and the machine: the special registers, which compiled code reads
   directly, and the numbers of attributes. The names of functions are in lib/Emulator/Machine/Functions.h. */
#ifndef ADJOINT_LIB_EMULATOR_ABI_H
#define ADJOINT_LIB_EMULATOR_ABI_H

#include <cstdint>

namespace adsim {

/// 32-bit registers at the start of a thread's state, in this order.
enum Register : uint32_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  DynamicSharedBytes,
  TotalSharedBytes,
  registerCount,
};

/// The 64-bit address of the CTA's shared memory follows the registers.
constexpr uint32_t sharedBaseOffset = 128;
static_assert(registerCount * 4 <= sharedBaseOffset, "the registers end before the base of shared memory");

/// Shared memory of each CTA begins at a multiple of this, so that swizzles and matrix descriptors, which use
/// bits of addresses, work unchanged. The CTAs of a cluster are consecutive.
constexpr uint64_t sharedWindow = uint64_t(1) << 18;

/// The flags of an access.
enum AccessFlags : uint32_t {
  AccessGeneric = 0,
  AccessGlobal = 1,
  AccessShared = 2,  // of the thread's CTA
  AccessCluster = 3, // of any CTA of the cluster
  accessSpaceMask = 3,
  AccessWrite = 4,
  AccessAtomic = 8,
  AccessAcquire = 16,
  AccessRelease = 32,
  accessAlignShift = 8, // log2 of the alignment from this bit on
};

enum class ShuffleKind : uint32_t { Xor, Up, Down, Index };
enum class VoteKind : uint32_t { Any, All, Ballot, Uniform };
enum class ReduxKind : uint32_t { Add, And, Or, Xor, Min, Max, UMin, UMax, FMin, FMax };
enum class BarrierReduction : uint32_t { None, Popc, And, Or };
enum class FenceKind : uint32_t { Memory, ProxyAsync };
enum class ElementKind : uint32_t { F16, BF16, TF32, S8, U8, F64, F32, S32, E4M3, E5M2 };
/// mbarrier.test_wait, mbarrier.try_wait, and a wait without a time limit.
enum class WaitKind : uint32_t { Test, Try, Wait };
/// The scope in which an arrival at an mbarrier releases, or a wait acquires.
enum class MBarrierScope : uint32_t { Relaxed, Cta, Cluster };

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_ABI_H
