#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Makes a Debian 12 (or a kin of it) ready to build and test Adjoint, and configures the build.
#
#   scripts/setup.sh [--versions]
#
# Installs the Debian packages that are missing (as root or with sudo), makes the Python environment .venv and
# configures the preset $ADJOINT_PRESET (release). What is already there is left alone, so that a second run takes a
# second. --versions prints the versions of all packages.
set -euo pipefail
source "$(dirname "$0")/common.sh"

PACKAGES=(
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22 libclang-rt-22-dev
  clang-format-22 clang-tidy-22 libmpfr-dev zlib1g-dev googletest cmake ninja-build ccache git ca-certificates
  python3 python3-dev python3-venv pkg-config shellcheck xz-utils
  bible-kjv # the book that examples/training/llama.py and examples/generate read
)

# Names the packages that no source offers, and the fix.
refuse_unknown_packages() {
  local package unknown=()
  for package in "$@"; do
    [[ $(apt-cache policy "$package") =~ Candidate:\ [0-9] ]] || unknown+=("$package")
  done
  ((${#unknown[@]} == 0)) ||
    die "no package source offers ${unknown[*]}
  LLVM 22 is among the security updates of Debian 12. Add them, with Debian itself, to /etc/apt/sources.list:
    deb http://deb.debian.org/debian bookworm main
    deb http://deb.debian.org/debian-security bookworm-security main
  On other systems see https://apt.llvm.org for version 22."
}

install_packages() {
  mapfile -t missing < <(missing_packages "${PACKAGES[@]}")
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || die "apt-get is not here; install these packages, or their like, by hand: ${missing[*]}"
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  quietly build/setup-apt-update.log as_root apt-get update -qq -o Acquire::Retries=3
  refuse_unknown_packages "${missing[@]}"
  quietly build/setup-apt-install.log as_root apt-get install "${APT_OPTIONS[@]}" "${missing[@]}"
}

# The environment is complete when it holds a copy of the list that it was made from.
make_python_environment() {
  local wanted=scripts/requirements.txt made=.venv/requirements.txt
  if [[ -x $PYTHON ]] && cmp -s "$wanted" "$made"; then return 0; fi
  say "making the Python environment .venv"
  quietly build/setup-venv.log python3 -m venv .venv
  pip_install build/setup-pip.log "$PYTHON" "$wanted"
  cp "$wanted" "$made"
}

# Ninja configures again by itself when a CMake file changes, but not when the presets do.
configure() {
  if [[ -f $BUILD/build.ninja && $BUILD/build.ninja -nt CMakePresets.json ]]; then return 0; fi
  say "configuring the preset $PRESET into ${BUILD#"$ROOT"/}"
  quietly "build/setup-configure-$PRESET.log" cmake --preset "$PRESET"
}

print_versions() {
  if command -v dpkg-query >/dev/null; then
    say "Debian packages: $(dpkg-query -W -f '${Package} ${Version}\n' "${PACKAGES[@]}" | sed '$!s/$/,/' | xargs)"
  fi
  say "Python packages: $("$PYTHON" --version), $("$PYTHON" -m pip list --format freeze --disable-pip-version-check |
    sed 's/==/ /; $!s/$/,/' | xargs)"
}

versions=''
for argument; do
  case $argument in
    --versions) versions=1 ;;
    -h | --help) usage; exit 0 ;;
    *) die "unknown argument '$argument'; see --help" ;;
  esac
done
install_packages
make_python_environment
configure
if [[ $versions ]]; then print_versions; fi
