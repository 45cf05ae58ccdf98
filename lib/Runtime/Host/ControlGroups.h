/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The control groups of this process. A container may have a cgroup namespace of its own: paths then begin at
   the root of the namespace, and the mount states which cgroup is its root. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_CONTROLGROUPS_H
#define ADJOINT_LIB_RUNTIME_HOST_CONTROLGROUPS_H

#include <functional>
#include <string>

namespace adrt {

/// Called with the folder of a group.
using GroupVisitor = std::function<void(const std::string &folder, bool isVersion2)>;

/// Visits the groups of the controller that this process is in, and their ancestors, as far as mounts show
/// them. Files are read below `root`.
void visitGroups(const std::string &root, const char *controller, const GroupVisitor &visit);

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_CONTROLGROUPS_H
