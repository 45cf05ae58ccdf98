# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# What the scripts share: where things are, and how they speak. Source it; it changes to the root of the project.
# shellcheck shell=bash disable=SC2034

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
ROOT=$PWD
PRESET=${ADJOINT_PRESET:-release}
BUILD=$ROOT/build/$PRESET
PYTHON=$ROOT/.venv/bin/python
LLVM=/usr/lib/llvm-22

# For sanitized builds. LLVM's bump allocators, compiled into our code, poison what is not allocated yet; the packaged
# LLVM allocates from the same memory without taking that back.
export ASAN_OPTIONS=${ASAN_OPTIONS-allow_user_poisoning=0} UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1}

# Tests of forks start threads in the child of a process that has some.
export TSAN_OPTIONS=${TSAN_OPTIONS-die_after_fork=0 halt_on_error=1}

say() { printf '== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# usage: prints the comment at the head of the script, without the licence.
usage() {
  sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
}

# takes_no_arguments "$@": for scripts with --help alone.
takes_no_arguments() {
  case ${1-} in
    '') ;;
    -h | --help) usage; exit 0 ;;
    *) die "unknown argument '$1'; see --help" ;;
  esac
}

# quietly LOG COMMAND…: the output goes into the file; its end is shown only when the command fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    die "'$*' failed; all of its output is in $log"
  fi
}

# build TARGET…: with every core that has 2 GiB of memory of its own, since MLIR's headers need that much.
build() {
  local cores memory jobs
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
  jobs=$((memory < cores ? memory : cores))
  ninja -C "$BUILD" -j "$((jobs > 0 ? jobs : 1))" "$@"
}

APT_OPTIONS=(-qq -y --no-install-recommends -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)

# missing_packages PACKAGE…: those Debian packages that are not installed.
missing_packages() {
  local package
  for package; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *'ok installed' ]] || echo "$package"
  done
}

# pip_install LOG PYTHON LIST: the packages of a list, each with one of the hashes that the list has for it. Those that
# are there already are installed again: no hash was checked for them.
pip_install() {
  quietly "$1" "$2" -m pip install --disable-pip-version-check --retries 3 --force-reinstall --require-hashes -r "$3"
}

# Runs a command as root, by sudo where needed; `missing` holds the packages that it is about.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    # shellcheck disable=SC2154
    die "packages are missing and neither root nor sudo is at hand; let an administrator run: apt-get install ${missing[*]}"
  fi
}
