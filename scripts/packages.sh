# The Debian packages Gradus needs, by purpose, and how the scripts install those that are missing.
# Sourced by the other scripts, which run from the top of the tree.

build_packages=(g++ cmake ninja-build libeigen3-dev nlohmann-json3-dev libcli11-dev)
test_packages=("${build_packages[@]}" catch2 libbenchmark-dev clang-format-14)
coverage_packages=("${test_packages[@]}" gcovr)
# libopenblas0-openmp shares one pool of threads with PyTorch; Debian's default OpenBLAS brings a second.
benchmark_packages=("${build_packages[@]}" python3 libbenchmark-dev libtorch-dev libopenblas0-openmp
  libopenblas-openmp-dev libdnnl-dev)
fuzz_packages=("${test_packages[@]}" clang libclang-rt-14-dev)

say() { printf '==> %s\n' "$*"; }

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# apt_get ARGUMENTS...: runs apt-get as root, with the system folders that `su` leaves out of PATH. It
# asks nothing, and what it says is shown only if it fails.
apt_get() {
  local as_root=() output
  if [[ $(id -u) != 0 ]]; then
    as_root=(sudo)
  fi
  if ! output=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH="$PATH:/usr/sbin:/sbin" \
    apt-get -q -o DPkg::Lock::Timeout=120 "$@" </dev/null 2>&1); then
    printf '%s\n' "$output" >&2
    return 1
  fi
}

# install_packages NAMES...: installs those of them that are missing.
install_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    fail "this script installs what it needs with apt-get, as on Debian 12, and there is none here." \
      "Install the likes of $*, then use cmake with the presets in CMakePresets.json."
  fi

  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if [[ ${#missing[@]} == 0 ]]; then
    return
  fi
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    fail "these packages are missing: ${missing[*]}." \
      "To install them, run this as root, or install sudo."
  fi

  say "Installing ${missing[*]} (a minute or two)"
  apt_get update || fail "apt-get update failed: see above (is there a network?)"
  apt_get install -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}: see above (is there a network?)"
}
