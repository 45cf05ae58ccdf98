/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A device that recognises what it was asked for before. Turns of a loop mostly ask for the same kernels with
   the same arguments: these are then asked of the device behind it as one, which costs the host one call of
   the driver and not one per kernel. */
#ifndef ADJOINT_RUNTIME_REPLAY_REPLAYINGDEVICE_H
#define ADJOINT_RUNTIME_REPLAY_REPLAYINGDEVICE_H

#include "adjoint/Runtime/Host/Device.h"

namespace adrt {

/// Told once, when the device cannot make graphs and launches go one by one; `site` may be null. May be
/// empty.
using ReplayWarning = std::function<void(const adrt_site *site, const std::string &message)>;

/// Destroys `device` when it is destroyed itself.
std::unique_ptr<Device> makeReplayingDevice(std::unique_ptr<Device> device, ReplayWarning warn);

} // namespace adrt

#endif // ADJOINT_RUNTIME_REPLAY_REPLAYINGDEVICE_H
