/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The emulated GPU. It runs kernels that `ad-lower-to-emulator` has compiled to host code: a fiber for each
   thread, and shared memory, barriers, asynchronous copies and matrix instructions in software. It makes
   checks that hardware does not make. It needs neither LLVM nor MLIR. docs/emulator.md lists what is
   modelled. */
#ifndef ADJOINT_EMULATOR_MACHINE_H
#define ADJOINT_EMULATOR_MACHINE_H

#include "adjoint/Support/SymbolTable.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace adsim {

/// The source location of an instruction, `FILE:LINE:COLUMN`, and the name of its operation.
struct Site {
  const char *location;
  const char *operation;
};

/// A constant or variable of the module outside shared memory.
struct ModuleMemory {
  void *base;
  uint64_t bytes;
  uint64_t writable;
};

/// The description of a compiled kernel. The lowering emits it as data under the symbol
/// `adsim_code_<kernel>`, so the order of the fields is part of the ABI.
struct KernelCode {
  const char *name;
  /// Runs one thread; `arguments` points to one value each, as for cuLaunchKernel.
  void (*entry)(void **arguments);
  const char *siteText;        ///< zero-terminated strings
  const uint32_t *siteOffsets; ///< for each site: offsets in siteText of its location and its operation
  const ModuleMemory *memory;
  uint32_t siteCount;
  uint32_t memoryCount;
  uint32_t staticSharedBytes; ///< dynamic shared memory begins after them
  uint32_t localBytes;        ///< local memory of a thread, without registers
  uint32_t maxThreads;        ///< of a CTA; 0: the limit of the machine
  uint32_t requiredBlock[3];  ///< 0: any
  uint32_t cluster[3];        ///< that the kernel requires; 0: any
  uint32_t argumentCount;
  uint32_t registers; ///< of a thread when the kernel starts; 0: as many as fit
  const char *kind;   ///< the kernel class that the function states, or an empty string

  /// The site with this index, which is less than siteCount.
  Site site(uint32_t index) const {
    const uint32_t *offsets = siteOffsets + 2 * static_cast<size_t>(index);
    return {siteText + offsets[0], siteText + offsets[1]};
  }
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return static_cast<uint64_t>(x) * y * z; }
};

/// When asynchronous copies land and in which order threads run.
enum class Schedule {
  Eager,    ///< copies land at once, threads run in order
  Lazy,     ///< copies land as late as the waits allow
  Shuffled, ///< both are drawn from the seed
};
/// The names of the schedules on command lines and in traces, in the order of the enumeration.
inline constexpr const char *kScheduleNames[] = {"eager", "lazy", "shuffled"};

/// How matrix instructions add products of f16 and bf16 numbers in f32. NVIDIA documents neither order nor
/// precision.
enum class MatrixSums {
  Ascending,    ///< in ascending k, with one rounding per step
  Aligned,      ///< by the published model of Hopper: aligned, cut to 25 bits, added at once, cut to f32
  AlignedWgmma, ///< `wgmma` aligned and `mma.sync` ascending, to see what notices a difference
};
/// The names on command lines, in the order of the enumeration.
inline constexpr const char *kMatrixSumsNames[] = {"ascending", "aligned", "aligned-wgmma"};

/// Global memory that a kernel may access. Ranges may overlap. An address may be written if one of its ranges
/// may be.
struct MemoryRange {
  const void *base = nullptr;
  uint64_t bytes = 0;
  bool writable = true;
};

struct Launch {
  Dim3 grid, block;
  Dim3 cluster; ///< if the kernel itself requires none
  uint32_t dynamicSharedBytes = 0;
  Schedule schedule = Schedule::Eager;
  uint64_t seed = 0;
  MatrixSums matrixSums = MatrixSums::Ascending;
  /// Finds races in shared and global memory, and missing proxy fences. CTAs run one after the other.
  bool detectRaces = true;
  /// Counts wavefronts and sectors; slower.
  bool countTraffic = false;
  /// Host threads that run CTAs in parallel, without race detection.
  unsigned hostThreads = 1;
  std::vector<MemoryRange> memory;
  /// Polled on any host thread; true ends the launch.
  std::function<bool()> interrupted;
};

/// The kinds of findings; a message begins with the name.
enum class Failure {
  None,
  InvalidLaunch,
  LackOfMemory, ///< of the host
  Interrupted,
  Race,
  MissingProxyFence,
  BarrierDivergence,
  Deadlock,
  UnwrittenRead,
  OutOfBounds,
  Misaligned,
  MBarrierMisuse,
  RegisterMisuse,     ///< of accumulators of wgmma, or by setmaxnreg
  SwizzleMismatch,    ///< a tile is read with another swizzle than it was written with
  Divergence,         ///< lanes of a warp disagree about a warp-synchronous instruction
  InvalidInstruction, ///< an operand that the instruction does not allow
  DivisionByZero,
  Trap,
};

const char *failureName(Failure failure);

struct Result {
  Failure failure = Failure::None;
  /// Names the kernel, the CTA, the thread and the location. A second line names the other access of a race.
  std::string message;
  /// `FILE:LINE:COLUMN` of the instruction and of the other access, if known.
  std::string location, otherLocation;

  bool ok() const { return failure == Failure::None; }
};

/// The memory requests of all warps of a launch at one site.
struct SiteTraffic {
  Site site{"", ""};
  bool shared = false;
  uint64_t requests = 0;
  uint64_t units = 0;      ///< wavefronts of shared memory, sectors of 32 bytes of global memory
  uint64_t idealUnits = 0; ///< the minimum for the requested bytes
};

struct Statistics {
  uint64_t threads = 0, switches = 0, barriers = 0, shuffles = 0;
  uint64_t loads = 0, stores = 0, atomics = 0;
  uint64_t asyncCopies = 0, bulkCopies = 0, bulkBytes = 0, mbarrierPolls = 0;
  uint64_t matrixLoads = 0, mma = 0, wgmma = 0; ///< instructions of a warp, of a warpgroup
  std::vector<SiteTraffic> traffic;             ///< with Launch::countTraffic, in the order of the sites
};

/// Runs the kernel over the whole grid. The first failure, in the order of the CTAs, ends the launch, but not
/// the process. `arguments` has a pointer to each argument.
Result launch(const KernelCode &code, void **arguments, const Launch &launch,
              Statistics *statistics = nullptr);

/// The functions that emulated kernels call. Kernels also need the memory functions of adrt::getSymbols().
adrt::SymbolTable getSymbols();

/// A tile of a tensor in global memory, as cuTensorMapEncodeTiled describes it; axis 0 is contiguous.
struct TensorMapSpec {
  void *base = nullptr;
  uint32_t elementBytes = 4;
  uint32_t rank = 1;
  uint64_t sizes[5] = {};
  uint64_t strides[5] = {}; ///< in bytes; of axis 0: ignored
  uint32_t box[5] = {};
  uint32_t swizzleBytes = 0; ///< 0, 32, 64 or 128
  bool tf32 = false;         ///< loads round f32 to tf32, to nearest even
};

constexpr uint32_t tensorMapBytes = 128;

/// Encodes a tensor map into `tensorMapBytes` bytes, which are aligned to 64. Returns the reason why hardware
/// would refuse the description, or an empty string.
std::string encodeTensorMap(void *map, const TensorMapSpec &spec);

} // namespace adsim

#endif // ADJOINT_EMULATOR_MACHINE_H
