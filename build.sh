#!/bin/sh
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Installs what netc is built with (Debian 12), configures and builds.
#
#   ./build.sh          builds build/release/bin/netc
#   ./build.sh check    lints, builds everything and runs the tests
#   ./build.sh wheel    builds build/netc-*.whl, which pip installs on any Linux with glibc 2.34
#   ./build.sh deb      builds build/release/netc_*.deb, a package of Debian 12
#   ./build.sh site     builds build/site/html, the documents and examples as pages
#   ./build.sh TARGET.. builds these targets, such as check-netc-fuzz with PRESET=fuzz
#
# PRESET chooses a preset of CMakePresets.json: release, debug, checked, asan, fuzz or coverage.
# Exits with 3 if a package is missing and cannot be installed.

set -eu
cd "$(dirname "$0")"
preset=${PRESET:-release}

packages='
  antlr4 ccache clang-19 clang-format-14 cmake g++ libantlr4-runtime-dev libclang-rt-19-dev libfmt-dev
  libgmock-dev libgtest-dev libhwloc-dev libmimalloc-dev libmlir-19-dev libomp-19-dev libsqlite3-dev libyaml-cpp-dev libzstd-dev lld
  llvm-19-dev llvm-19-tools man-db mlir-19-tools ninja-build nlohmann-json3-dev python3 zlib1g-dev'

[ "${1-}" != check ] || packages="$packages mkdocs mkdocs-material python3-ipykernel python3-nbclient python3-pandas
  valgrind"
[ "${1-}" != deb ] || packages="$packages dpkg-dev file"
[ "${1-}" != site ] || packages="$packages mkdocs mkdocs-material"
[ "${1-}" != wheel ] || packages="$packages python3-pip python3-venv"

missing=
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done

if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ]; then
    sudo=
  elif command -v sudo >/dev/null; then
    sudo=sudo
  else
    echo "build.sh: error: neither root nor sudo; install these packages:$missing" >&2
    exit 3
  fi
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get update -q || exit 3
  $sudo apt-get install -q -y --no-install-recommends $missing || exit 3
fi

# Its programs and libraries ask for glibc 2.34, as test/Python/wheel.py checks.
[ "${1-}" != wheel ] || exec python3 -m pip wheel --no-deps --wheel-dir build \
  --config-settings=wheel.tags=py3-none-manylinux_2_34_x86_64 ./python

case ${1-} in
  '') set -- netc ;;
  check) set -- lint check-netc ;;
esac
site=
[ "${1-}" != site ] || { site=1; set -- netc; }
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset"
cmake --build --preset "$preset" --target "$@"
[ -z "$site" ] || python3 tools/site/stage.py "build/$preset/bin/netc" build/site/pages
[ -z "$site" ] || mkdocs build --strict --quiet --config-file tools/site/mkdocs.yml
