#!/usr/bin/env bash
# Boots the machine's own systemd as PID 1 of throw-away namespaces, over an overlay of the running root: nothing it
# writes is kept, but in what is bound. Called as: unshare --pid --fork --kill-child bash boot.sh DIRECTORY
# DIRECTORY holds `binds` (lines of HOST<tab>INSIDE) and `seed` (a script that is given the new root); it is ours alone.
set -euo pipefail
here=$1
name=${here##*/}
[ $$ -eq 1 ] || { echo "boot.sh is no first process: start it by unshare --pid --fork" >&2; exit 1; }

# A manager moves every process of its root cgroup into one of its own, so it must never be given the host's: a child
# of ours is made in each hierarchy that systemd uses, and only then does this process leave the host's view of them.
if [ "${2:-}" != inside ]; then
    mapfile -t groups </proc/self/cgroup  # whole, before it changes
    mapfile -t mounts </proc/mounts
    for group in "${groups[@]}"; do
        IFS=: read -r _ controllers path <<<"$group"
        case $controllers in
        "") kind=cgroup2 ;;
        name=systemd | cpu | cpuacct | cpu,cpuacct | blkio | memory | devices | pids) kind=cgroup ;;
        *) continue ;;
        esac
        for mounted in "${mounts[@]}"; do
            read -r _ at type options _ <<<"$mounted"
            [ "$type" = "$kind" ] || continue
            [ "$kind" = cgroup2 ] || [[ ",$options," == *",$controllers,"* ]] || continue
            path=${path%/}
            mkdir -p "$at$path/$name"
            echo $$ >"$at$path/$name/cgroup.procs"
            printf '%s\t%s\t%s\n' "$kind" "$at" "$controllers" >>"$here/cgroups"
            echo "$at$path/$name" >>"$here/cgroup-directories"
            break
        done
    done
    exec unshare --mount --uts --ipc --net --cgroup -- bash "$0" "$here" inside
fi

mount -n --make-rprivate /
mount -n -t tmpfs -o mode=755 tmpfs "$here/disk"
mkdir "$here/disk/upper" "$here/disk/work" "$here/disk/root"
root=$here/disk/root
mount -n -t overlay -o "lowerdir=/,upperdir=$here/disk/upper,workdir=$here/disk/work" overlay "$root"

mount -n -t proc proc "$root/proc"
for frozen in sys sysrq-trigger irq bus; do
    [ -e "$root/proc/$frozen" ] || continue
    mount -n --bind "$root/proc/$frozen" "$root/proc/$frozen"
    mount -n -o remount,bind,ro "$root/proc/$frozen"
done
mount -n -t sysfs -o ro sysfs "$root/sys"
mount -n -t tmpfs -o mode=755 tmpfs "$root/run"
mount -n -t tmpfs -o mode=1777 tmpfs "$root/tmp"

# A private /dev: the host's must not meet systemd-tmpfiles.
mount -n -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}"
done
mknod -m 666 "$root/dev/tty" c 5 0
mkdir "$root/dev/pts" "$root/dev/shm"
mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -n -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s "/proc/self/${link#*:}" "$root/dev/${link%:*}"; done

# The host's layout of cgroups, below our own; what is not ours is not there.
if grep -q '^cgroup2	/sys/fs/cgroup	' "$here/cgroups"; then
    mount -n -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
    mount -n -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
    while IFS=$'\t' read -r kind at controllers; do
        mkdir "$root$at"
        [ "$kind" = cgroup2 ] && options=() || options=(-o "$controllers")
        [ "$controllers" = name=systemd ] && options=(-o none,name=systemd)
        mount -n -t "$kind" "${options[@]}" "$kind" "$root$at"
    done <"$here/cgroups"
    mount -n -o remount,ro "$root/sys/fs/cgroup"  # or systemd would mount further hierarchies, for the whole host
fi

# Nothing of what the host starts, and nothing that looks for hardware.
rm -rf "$root"/etc/systemd/system/*.wants "$root"/etc/systemd/user/*.wants
for unit in systemd-udevd.service systemd-udev-trigger.service systemd-udev-settle.service systemd-timesyncd.service \
    systemd-networkd.service systemd-resolved.service systemd-modules-load.service systemd-sysctl.service \
    systemd-binfmt.service systemd-hwdb-update.service systemd-journal-flush.service systemd-random-seed.service \
    systemd-remount-fs.service systemd-firstboot.service proc-sys-fs-binfmt_misc.automount dev-hugepages.mount \
    dev-mqueue.mount sys-fs-fuse-connections.mount sys-kernel-config.mount sys-kernel-debug.mount \
    sys-kernel-tracing.mount getty.target getty-static.service; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
: >"$root/etc/fstab"
mkdir -p "$root/etc/systemd/journald.conf.d"
printf '[Journal]\nStorage=volatile\nRateLimitIntervalSec=0\n' >"$root/etc/systemd/journald.conf.d/trial.conf"

while IFS=$'\t' read -r from to; do
    mkdir -p "$root$to"
    mount -n --bind "$from" "$root$to"
done <"$here/binds"
bash -eu "$here/seed" "$root"

cd "$root"
mkdir -p .before
pivot_root . .before
umount -l /.before
# systemd leaves this to whoever makes the container, and without it credentials are empty directories, silently.
mount -n --make-rshared /
exec env -i container=trial PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio \
    /lib/systemd/systemd --system --unit=multi-user.target
