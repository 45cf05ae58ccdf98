/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The rules of the PTX ISA for registers: the accumulators of wgmma, and setmaxnreg. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_REGISTERS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_REGISTERS_H

#include <cstdint>

namespace adsim {

struct LaunchState;
struct Thread;

/// Called before a wgmma. Checks that a wgmma.fence follows the last access of another instruction to these
/// accumulators, and also the last wgmma of another shape with these accumulators. `shape` is any number that
/// distinguishes shapes. False after a failure.
bool useAccumulators(Thread &self, uint32_t number, uint32_t shape, uint32_t site);

/// Registers of a thread when the kernel starts: the number that the kernel requests, else the maximum for a
/// CTA of this size.
uint32_t launchRegisters(const LaunchState &state);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_INSTRUCTIONS_REGISTERS_H
