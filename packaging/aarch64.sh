#!/bin/sh
# Run a wheel for aarch64 on another machine: packaging/aarch64.sh WHEEL PYTHON SCRIPT. Called by `make wheels`.
# Needs qemu-user and apt-get: Python for arm64 and its libraries come from Debian, unpacked into build/aarch64. Nothing is
# installed on this machine. A wheel for Python 3.11 runs with Debian's 3.11, one with the stable ABI with 3.13.
set -eu
wheel=$1
python=$2
script=$3
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || {
  echo "Skipped: $wheel was not run, because qemu-aarch64 is not installed (Debian: apt-get install qemu-user)."
  exit 0
}
command -v apt-get >/dev/null || { echo "Skipped: $wheel was not run, because there is no apt-get to fetch Python for arm64."; exit 0; }

case $wheel in
  *-cp311-cp311-*) version=3.11 release=bookworm ssl=libssl3 ;;
  *) version=3.13 release=trixie ssl=libssl3t64 ;;
esac
root=$PWD/build/aarch64/$version
debian=$root/debian
if [ ! -e "$debian/usr/bin/python$version" ]; then
  mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/packages"
  echo "deb http://deb.debian.org/debian $release main" > "$root/sources.list"
  options="-o Dir::Etc::SourceList=$root/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$root/lists
    -o Dir::Cache=$root/cache -o APT::Architecture=arm64 -o APT::Architectures=arm64"
  apt-get -qq $options update
  (cd "$root/packages" && apt-get -qq $options download libc6 zlib1g libexpat1 $ssl libffi8 libsqlite3-0 libbz2-1.0 liblzma5 \
    libuuid1 libgcc-s1 libstdc++6 libzstd1 libpython$version-minimal libpython$version-stdlib python$version-minimal)
  for package in "$root"/packages/*.deb; do dpkg -x "$package" "$debian"; done
  [ -e "$debian/lib" ] || ln -s usr/lib "$debian/lib"
fi
rm -rf "$root/site"
"$python" -m pip install --quiet --target "$root/site" --only-binary :all: --implementation cp --python-version $version \
  --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 --platform manylinux_2_27_aarch64 \
  --platform manylinux_2_28_aarch64 "$wheel"
PYTHONPATH=$root/site OPENBLAS_NUM_THREADS=1 "$qemu" -L "$debian" "$debian/usr/bin/python$version" -W error "$script"
