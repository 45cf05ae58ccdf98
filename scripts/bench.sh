#!/usr/bin/env bash
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Measures us and the peers in the same run.
#
#   scripts/bench.sh NAME… [--json FILE] [OPTION…]
#
# NAME is one of the programs in benchmarks (without its ending), or how one begins. Peers are installed into
# build/bench-venv, and as the Debian packages that a program names at its head; one that cannot be is named as missing.
# For programs that say that they need scripts/build_python.sh, the Python package is built too.
# Each benchmark prints a table and closes with one line per comparison, `NAME: 1.07x of PEER (CASE)`, where more than 1
# means that we are faster; without a peer a line names our own aim. --json writes all measurements to a file. From the
# first other option on, all words are handed to the benchmarks: scripts/bench.sh sweep --seed 7 --count 100
set -euo pipefail
source "$(dirname "$0")/common.sh"

benchmarks() {
  find benchmarks -maxdepth 1 -name '*.py' -perm -u+x | sed 's,.*/,,; s,\.py$,,' | sort
}

# find_benchmark TEXT: the one with this name, else the only one that begins so.
find_benchmark() {
  local found
  if [[ -x benchmarks/$1.py ]]; then echo "$1"; return 0; fi
  mapfile -t found < <(compgen -W "$(benchmarks | xargs)" -- "$1")
  ((${#found[@]} == 1)) || die "unknown benchmark '$1', expected one of: $(benchmarks | xargs)"
  echo "${found[0]}"
}

# install_packages NAME…: what the benchmarks need from Debian.
install_packages() {
  local wanted missing
  wanted=$(sed -n 's/^# Debian packages: //p' "${@/%/.py}")
  # shellcheck disable=SC2086
  mapfile -t missing < <(missing_packages $wanted)
  ((${#missing[@]})) || return 0
  say "installing the Debian packages of the peers: ${missing[*]}"
  if ! (quietly build/bench-apt-update.log as_root apt-get update -qq -o Acquire::Retries=3 &&
    quietly build/bench-apt-install.log as_root apt-get install "${APT_OPTIONS[@]}" "${missing[@]}"); then
    say "they could not be installed; the peers in them are named as missing below"
  fi
}

names=() json='' handed=()
while (($#)); do
  case $1 in
    -h | --help) usage; echo "Benchmarks: $(benchmarks | xargs)"; exit 0 ;;
    --json)
      [[ ${2-} ]] || die "--json expects a file"
      json=$2
      { : >>"$json"; } 2>/dev/null || die "--json: cannot write '$json'"
      shift
      ;;
    -*)
      handed=("$@")
      break
      ;;
    *)
      name=$(find_benchmark "$1")
      names+=("$name")
      ;;
  esac
  shift
done
((${#names[@]})) || die "expected the name of a benchmark, one of: $(benchmarks | xargs)"

scripts/setup.sh
build ad-opt ad-runner adrt-run ad-gpu-emulate
programs=("${names[@]/#/benchmarks/}")
if grep -qF scripts/build_python.sh "${programs[@]/%/.py}"; then scripts/build_python.sh; fi
install_packages "${names[@]/#/benchmarks/}"

# install_peers FOLDER: PyTorch is the only one without a hash.
install_peers() {
  (pip_install build/setup-bench-pip.log "$1/bin/python" benchmarks/requirements.txt) &&
    (quietly build/setup-bench-pip-torch.log "$1/bin/python" -m pip install --disable-pip-version-check \
      -r benchmarks/torch.txt)
}

# The environment is complete when it holds a copy of the lists that it was made from.
peers=build/bench-venv
wanted=$(cat benchmarks/requirements.txt benchmarks/torch.txt)
if [[ $wanted != "$(cat "$peers/requirements.txt" 2>/dev/null)" ]]; then
  say "installing the peers into $peers: $(sed -n 's/^\([a-z].*==[^ ]*\).*/\1/p' <<<"$wanted" | xargs)"
  quietly build/setup-bench-venv.log python3 -m venv "$peers"
  if install_peers "$peers"; then
    cat >"$peers/requirements.txt" <<<"$wanted"
  else
    say "the peers could not be installed; they are named as missing below"
    pip_install build/setup-bench-pip-numpy.log "$peers/bin/python" scripts/requirements.txt
  fi
fi

parts=()
for name in "${names[@]}"; do
  parts+=("$BUILD/bench-$name.json")
  say "benchmark $name"
  ADJOINT_BIN=$BUILD/bin "$peers/bin/python" -u "benchmarks/$name.py" --json "${parts[-1]}" "${handed[@]}"
done
if [[ $json ]]; then
  "$PYTHON" -c 'import json, sys
file, *rest = sys.argv[1:]
names, parts = rest[:len(rest) // 2], rest[len(rest) // 2:]
json.dump({name: json.load(open(part)) for name, part in zip(names, parts)}, open(file, "w"), indent=1)' \
    "$json" "${names[@]}" "${parts[@]}"
fi
