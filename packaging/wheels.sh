#!/bin/sh
# Build one manylinux wheel: packaging/wheels.sh PYTHON ARCHITECTURE, into dist/. Called by `make wheels`.
# From Python 3.12 on the wheel has the stable ABI and serves all later versions too.
set -eu
python=$1
architecture=$2
platform=manylinux_2_17_$architecture
tools=build/zig-$architecture
unrepaired=build/unrepaired/$architecture

"$python" packaging/zig.py "$tools" "$architecture-linux-gnu.2.17"
version=$("$python" -c 'import sys; print(f"{sys.version_info.major}{sys.version_info.minor}")')
rm -rf "$unrepaired"
# Python describes the machine it runs on; these two variables describe the other one.
_PYTHON_HOST_PLATFORM=linux-$architecture SETUPTOOLS_EXT_SUFFIX=.cpython-$version-$architecture-linux-gnu.so \
  CMAKE_TOOLCHAIN_FILE=$PWD/$tools/toolchain.cmake \
  "$python" -m build --wheel --outdir "$unrepaired" -Cbuild-dir="build/$platform-$version" .
# Nothing is left to bundle, since the C++ library is linked in: this checks the wheel and gives it its tag.
PATH=$(dirname "$python"):$PATH "$python" -m auditwheel repair --plat auto --only-plat --wheel-dir dist "$unrepaired"/*.whl
ls dist/*"$version"-*"$platform".whl
