#!/bin/sh
# Builds what run_on_gpu.py runs, for sm_90, with a static runtime: nothing but the driver is needed there.
# usage: build.sh BUILT   (nvcc on PATH)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
built=$(cd "$1" && pwd)
cd "$here"
python3 -c 'import kernel_sources; print(kernel_sources.sources(), end="")' >"$built/kernels.inc"
nvcc -cubin -std=c++17 -arch=sm_90 launch_kernels.cu -o "$built/launches.cubin"
for program in banks launches attributes; do
  nvcc -std=c++17 -O2 -arch=sm_90 -I"$built" $program.cu -o "$built/$program"
done
