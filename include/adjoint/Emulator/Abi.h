/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What the lowering and the machine agree on beside the names of functions: the special registers, which
   compiled code reads directly, and numbers that stand for attributes. */
#ifndef ADJOINT_EMULATOR_ABI_H
#define ADJOINT_EMULATOR_ABI_H

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
static_assert(registerCount * 4 <= sharedBaseOffset, "the registers have outgrown their place");

/// Shared memory of each CTA lies at a multiple of this, so that swizzles and matrix descriptors, which are
/// made of bits of addresses, work unchanged. The CTAs of a cluster follow each other.
constexpr uint64_t sharedWindow = uint64_t(1) << 18;

/// The flags of an access.
enum AccessFlags : uint32_t {
  AccessGeneric = 0,
  AccessGlobal = 1,
  AccessShared = 2,  // of the own CTA
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
enum class ElementKind : uint32_t { F16, BF16, TF32, S8, U8, F64, F32, S32 };
/// Whether a thread looks at an mbarrier, waits for some time or until it is through.
enum class WaitKind : uint32_t { Test, Try, Wait };
/// Among whom an arrival at an mbarrier releases, or a wait acquires: nobody, the CTA, the cluster.
enum class MBarrierScope : uint32_t { Relaxed, Cta, Cluster };

} // namespace adsim

#endif // ADJOINT_EMULATOR_ABI_H
