#!/bin/sh
# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Makes a bare Debian 12 in a folder that does not exist, and runs the README's commands there on the last commit.
# For root, with Debian's debootstrap.
#
#   tools/fresh-machine.sh FOLDER root             ./build.sh and an estimate, as root
#   tools/fresh-machine.sh FOLDER user             the same, as a user who may use sudo
#   tools/fresh-machine.sh FOLDER root COMMAND..   another command, such as `./build.sh check`
#
# CCACHE_DIR may name a folder that the machine uses for ccache. The folder with the machine stays.

set -eu
cd "$(dirname "$0")/.."
machine=$1 login=$2
shift 2
[ $# -gt 0 ] || set -- sh -c './build.sh && build/release/bin/netc --estimate examples/resnet.net --net=resnet50'
[ ! -e "$machine" ] || { echo "fresh-machine.sh: error: $machine exists" >&2; exit 1; }

debootstrap --variant=minbase bookworm "$machine"
home=/root
if [ "$login" = user ]; then
  home=/home/user
  chroot "$machine" apt-get install -q -y --no-install-recommends sudo
  chroot "$machine" useradd --create-home user
  echo 'user ALL=(ALL) NOPASSWD: ALL' >"$machine/etc/sudoers.d/user"
fi
mkdir "$machine$home/netc"
git archive HEAD | tar -x -C "$machine$home/netc"
mkdir -p "$machine/ccache"
chroot "$machine" chown -R "$login" "$home/netc" /ccache

# The mounts are gone when the command ends.
exec unshare --mount sh -eu -c '
  machine=$1 login=$2 home=$3
  shift 3
  mount -t proc proc "$machine/proc"
  mount --rbind /dev "$machine/dev"
  [ -z "${CCACHE_DIR-}" ] || mount --bind "$CCACHE_DIR" "$machine/ccache"
  exec chroot --userspec="$login:$login" "$machine" env -i HOME="$home" USER="$login" TERM=dumb CCACHE_DIR=/ccache \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "cd \"\$HOME/netc\" && exec \"\$@\"" sh "$@"
' sh "$machine" "$login" "$home" "$@"
