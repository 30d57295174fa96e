# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# An image that has netc, from this source:
#
#   docker build -t netc .
#   docker run --rm -v "$PWD":/specifications netc --estimate FILE.net

FROM debian:bookworm-slim AS build
WORKDIR /netc
COPY . .
RUN ./build.sh deb

FROM debian:bookworm-slim
# The slim image leaves out documents, pages of the manual, and what shows these.
RUN --mount=type=bind,from=build,source=/netc/build/release,target=/packages \
  apt-get update && \
  apt-get install -y --no-install-recommends \
    -o DPkg::Options::=--path-include='/usr/share/doc/netc/*' \
    -o DPkg::Options::=--path-include='/usr/share/groff/*' \
    -o DPkg::Options::=--path-include=/usr/share/man/man1 \
    -o DPkg::Options::=--path-include='/usr/share/man/man1/netc*' \
    bash-completion g++ libomp5-19 man-db /packages/netc_*.deb && \
  rm -rf /var/lib/apt/lists/*
WORKDIR /specifications
ENTRYPOINT ["netc"]
