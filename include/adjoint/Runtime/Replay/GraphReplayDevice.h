/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A device that replays repeated commands as graphs. Iterations of a loop mostly enqueue the same kernels
   with the same arguments: the underlying device then launches one graph, which costs the host one call of
   the driver instead of one per kernel. */
#ifndef ADJOINT_RUNTIME_REPLAY_GRAPHREPLAYDEVICE_H
#define ADJOINT_RUNTIME_REPLAY_GRAPHREPLAYDEVICE_H

#include "adjoint/Runtime/Host/Device.h"

namespace adrt {

/// Called once, when the device fails to make a graph and commands are issued one by one. `site` may be null.
/// The function may be empty.
using ReplayWarning = std::function<void(const adrt_site *site, const std::string &message)>;

/// Owns `device`.
std::unique_ptr<Device> makeGraphReplayDevice(std::unique_ptr<Device> device, ReplayWarning warn);

} // namespace adrt

#endif // ADJOINT_RUNTIME_REPLAY_GRAPHREPLAYDEVICE_H
