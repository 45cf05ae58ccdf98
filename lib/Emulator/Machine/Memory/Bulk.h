/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Copies that somebody else than the issuing thread finishes. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_BULK_H
#define ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_BULK_H

#include "../State.h"

namespace adsim {

/// Finishes one copy of the bulk engine, the next or a random one. False when there is none.
bool landOneCopy(Worker &worker);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_BULK_H
