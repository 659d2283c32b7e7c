#!/bin/sh
# Run a wheel for aarch64 on another machine: packaging/aarch64.sh WHEEL PYTHON SCRIPT. Called by `make wheels`.
# Needs qemu-user and apt-get: Python 3.13 for arm64 and its libraries come from Debian, unpacked into build/aarch64.
# Nothing is installed on this machine. The wheel must have the stable ABI.
set -eu
wheel=$1
python=$2
script=$3
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || {
  echo "$wheel: not run, since qemu-aarch64 is not installed (Debian: apt-get install qemu-user-static)"
  exit 0
}
command -v apt-get >/dev/null || { echo "$wheel: not run, since there is no apt-get to fetch Python for arm64"; exit 0; }

root=$PWD/build/aarch64
debian=$root/debian
if [ ! -e "$debian/usr/bin/python3.13" ]; then
  mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/packages"
  echo "deb http://deb.debian.org/debian trixie main" > "$root/sources.list"
  options="-o Dir::Etc::SourceList=$root/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$root/lists
    -o Dir::Cache=$root/cache -o APT::Architecture=arm64 -o APT::Architectures=arm64"
  apt-get -qq $options update
  (cd "$root/packages" && apt-get -qq $options download libc6 zlib1g libexpat1 libssl3t64 libffi8 libsqlite3-0 libbz2-1.0 liblzma5 \
    libuuid1 libgcc-s1 libstdc++6 libzstd1 libpython3.13-minimal libpython3.13-stdlib python3.13-minimal)
  for package in "$root"/packages/*.deb; do dpkg -x "$package" "$debian"; done
  ln -sfn usr/lib "$debian/lib"
fi
rm -rf "$root/site"
"$python" -m pip install --quiet --target "$root/site" --only-binary :all: --implementation cp --python-version 3.13 \
  --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 --platform manylinux_2_27_aarch64 \
  --platform manylinux_2_28_aarch64 "$wheel"
PYTHONPATH=$root/site OPENBLAS_NUM_THREADS=1 "$qemu" -L "$debian" "$debian/usr/bin/python3.13" -W error "$script"
