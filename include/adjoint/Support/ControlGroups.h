/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The control groups of this process, whose files hold the limits of a container. */
#ifndef ADJOINT_SUPPORT_CONTROLGROUPS_H
#define ADJOINT_SUPPORT_CONTROLGROUPS_H

#include <string>
#include <vector>

namespace adrt {

struct ControlGroup {
  std::string folder; ///< with its files, such as cpu.max
  bool isVersion2;
};

/// The groups of this process for a controller, such as "cpu" or "memory", and their ancestors as far as the
/// mounts show them. Files are read below `root`: tests have their own /proc and /sys.
std::vector<ControlGroup> findControlGroups(const std::string &controller, const std::string &root = "");

} // namespace adrt

#endif // ADJOINT_SUPPORT_CONTROLGROUPS_H
