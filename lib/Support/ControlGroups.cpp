/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   A container may have a cgroup namespace of its own: paths then begin at the root of the namespace, and the
   mount states which cgroup is its root. */
#include "adjoint/Support/ControlGroups.h"

#include <fstream>
#include <sstream>

using namespace adrt;

namespace {

/// The mount point of a hierarchy of control groups, and the group that is its root.
struct Mount {
  std::string folder, root;
};

bool contains(const std::string &list, const std::string &word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// `ID PARENT MAJOR:MINOR ROOT FOLDER OPTIONS [FIELD]… - TYPE SOURCE OPTIONS`, as in proc(5).
Mount findMount(const std::string &root, const std::string &controller, bool isVersion2) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    size_t dash = line.find(" - ");
    if (dash == std::string::npos)
      continue;
    std::istringstream head(line), tail(line.substr(dash + 3));
    std::string skipped, type, options;
    Mount mount;
    head >> skipped >> skipped >> skipped >> mount.root >> mount.folder;
    tail >> type >> skipped >> options;
    if (isVersion2 ? type == "cgroup2" : type == "cgroup" && contains(options, controller))
      return mount;
  }
  return {};
}

void addWithAncestors(const std::string &root, const std::string &controller, bool isVersion2,
                      std::string group, std::vector<ControlGroup> &groups) {
  Mount mount = findMount(root, controller, isVersion2);
  if (mount.folder.empty())
    return;
  if (mount.root != "/" && group.compare(0, mount.root.size(), mount.root) == 0)
    group.erase(0, mount.root.size());
  while (true) {
    groups.push_back({root + mount.folder + group, isVersion2});
    size_t slash = group.rfind('/');
    if (group.empty() || slash == std::string::npos)
      return;
    group.erase(slash);
  }
}

} // namespace

// `ID:CONTROLLERS:GROUP`; in version 2 the ID is 0 and there are no controllers.
std::vector<ControlGroup> adrt::findControlGroups(const std::string &controller, const std::string &root) {
  std::vector<ControlGroup> groups;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    bool isVersion2 = controllers.empty();
    if (isVersion2 || contains(controllers, controller))
      addWithAncestors(root, controller, isVersion2, group, groups);
  }
  return groups;
}
