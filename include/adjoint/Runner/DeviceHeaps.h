// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The heaps of device memory of this process, one for each target with a device. This header includes neither
// LLVM nor MLIR.
#ifndef ADJOINT_RUNNER_DEVICEHEAPS_H
#define ADJOINT_RUNNER_DEVICEHEAPS_H

#include "adjoint/Runtime/Host/DeviceHeap.h"

#include <string>

namespace mlir::ad::runner {

/// The heap of `target`; it exists while somebody uses it. Null for a target of the host, with an empty
/// `problem`; null, with the reason in `problem`, where there is no such device.
std::shared_ptr<adrt::DeviceHeap> getDeviceHeap(const std::string &target, std::string &problem);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_DEVICEHEAPS_H
