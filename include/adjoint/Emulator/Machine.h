/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The emulated GPU. It runs kernels that `ad-lower-to-emulator` has turned into host code: one fiber for each
   thread, shared memory, barriers, asynchronous copies and matrix instructions in software, and checks that
   hardware does not make. Neither LLVM nor MLIR is needed here. docs/emulator.md says what is modelled. */
#ifndef ADJOINT_EMULATOR_MACHINE_H
#define ADJOINT_EMULATOR_MACHINE_H

#include "adjoint/Support/SymbolTable.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace adsim {

/// An instruction's place in the source: `FILE:LINE:COLUMN`, and the name of the operation.
struct Site {
  const char *location;
  const char *operation;
};

/// Memory that belongs to the module: constants and variables outside of shared memory.
struct ModuleMemory {
  void *base;
  uint64_t bytes;
  uint64_t writable;
};

/// One kernel as compiled code describes it. The lowering emits it as data, under the symbol
/// `adsim_code_<kernel>`; the order of the fields is part of that contract.
struct KernelCode {
  const char *name;
  /// Runs one thread; `arguments` points to one value each, as for cuLaunchKernel.
  void (*entry)(void **arguments);
  const char *siteText;        ///< strings, each ended by a zero
  const uint32_t *siteOffsets; ///< of the location and of the operation in them, for each site
  const ModuleMemory *memory;
  uint32_t siteCount;
  uint32_t memoryCount;
  uint32_t staticSharedBytes; ///< dynamic shared memory begins behind them
  uint32_t localBytes;        ///< memory of a thread, registers aside
  uint32_t maxThreads;        ///< of a CTA; 0: the machine's own limit
  uint32_t requiredBlock[3];  ///< 0: any
  uint32_t cluster[3];        ///< that the kernel asks for; 0: any
  uint32_t argumentCount;
  uint32_t registers; ///< of a thread when the kernel starts; 0: as many as fit
  const char *kind;   ///< the class of the kernel, as its function says; empty when it does not
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

/// Global memory that a kernel may touch. Ranges may overlap; one that may be written is enough.
struct MemoryRange {
  const void *base = nullptr;
  uint64_t bytes = 0;
  bool writable = true;
};

struct Launch {
  Dim3 grid, block;
  Dim3 cluster; ///< where the kernel itself asks for none
  uint32_t dynamicSharedBytes = 0;
  Schedule schedule = Schedule::Eager;
  uint64_t seed = 0;
  /// Vector clocks over shared and global memory, and missing proxy fences. CTAs run one after the other.
  bool detectRaces = true;
  /// Counts wavefronts and sectors; costs time.
  bool countTraffic = false;
  /// Host threads that run CTAs side by side when no race is looked for.
  unsigned hostThreads = 1;
  std::vector<MemoryRange> memory;
  /// Asked now and then, on any host thread; true ends the launch.
  std::function<bool()> interrupted;
};

/// What went wrong; the first word of a message names it.
enum class Failure {
  None,
  InvalidLaunch,
  Interrupted,
  Race,
  MissingProxyFence,
  BarrierDivergence,
  Deadlock,
  UnwrittenRead,
  OutOfBounds,
  Misaligned,
  MBarrierMisuse,
  RegisterMisuse,     ///< of wgmma, or of a warpgroup's share of all registers
  SwizzleMismatch,    ///< a tile is read with another swizzle than it was written with
  Divergence,         ///< lanes of one warp disagree about an instruction of the warp
  InvalidInstruction, ///< an operand that the instruction does not allow
  DivisionByZero,
  Trap,
};

const char *failureName(Failure failure);

struct Result {
  Failure failure = Failure::None;
  /// Kernel, CTA, thread, what happened and where; a second line names the other access of a race.
  std::string message;
  /// `FILE:LINE:COLUMN` of the instruction and of the other one, where there are such.
  std::string location, otherLocation;

  bool ok() const { return failure == Failure::None; }
};

/// What the warps of a launch asked of memory at one place of the source.
struct SiteTraffic {
  Site site{"", ""};
  bool shared = false;
  uint64_t requests = 0;
  uint64_t units = 0;      ///< wavefronts of shared memory, sectors of 32 bytes of global memory
  uint64_t idealUnits = 0; ///< the fewest that the requested bytes need
};

struct Statistics {
  uint64_t threads = 0, switches = 0, barriers = 0, shuffles = 0;
  uint64_t loads = 0, stores = 0, atomics = 0;
  uint64_t asyncCopies = 0, bulkCopies = 0, bulkBytes = 0, mbarrierPolls = 0;
  uint64_t matrixLoads = 0, mma = 0, wgmma = 0; ///< instructions of a warp, of a warpgroup
  std::vector<SiteTraffic> traffic;             ///< with Launch::countTraffic, in the order of the sites
};

/// Runs the kernel over the whole grid. The first failure, in the order of the CTAs, ends the launch; nothing
/// ends the process. `arguments` holds a pointer to each argument.
Result launch(const KernelCode &code, void **arguments, const Launch &launch,
              Statistics *statistics = nullptr);

/// What emulated kernels call; to be linked in beside adrt::getSymbols(), whose memory functions they need.
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
  bool tf32 = false;         ///< f32 that loads round to tf32, to nearest even
};

constexpr uint32_t tensorMapBytes = 128;

/// Fills the `tensorMapBytes` bytes, aligned to 64, that a kernel takes as tensor map. Returns why hardware
/// would refuse the description, or nothing.
std::string encodeTensorMap(void *map, const TensorMapSpec &spec);

} // namespace adsim

#endif // ADJOINT_EMULATOR_MACHINE_H
