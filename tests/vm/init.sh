#!/bin/sh
# The emulated machine's first process: mounts, then each test program between two marks on the console.
# All that the tests need is in this root, or they are left out by name (run.sh): nothing may be skipped.
export PATH=/usr/sbin:/usr/bin HOME=/root SAPHAN_MUST_RUN=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t securityfs security /sys/kernel/security
mount -t tmpfs -o mode=755 run /run
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
ip link set lo up
hostname vm
ulimit -c 0
one() { # NAME COMMAND...
    name=$1
    shift
    echo "=== begin $name"
    "$@" </dev/null 2>&1
    echo "=== end $name $?"
}
# The tests' own cgroup is beside init's, as a service's would be.
mkdir /sys/fs/cgroup/tests
for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do
    echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control
done
echo $$ >/sys/fs/cgroup/tests/cgroup.procs 2>/dev/null
while read -r program; do
    one "$(basename "$program")" timeout 200 "$program"
done </vm/kernel-tests
echo 0 >/sys/fs/cgroup/cgroup.procs
one inside timeout 300 /vm/inside.sh "$(cat /vm/build)"
echo "=== all"
poweroff -f
