import type { EscapeCase } from './escape-case.ts';

/** Attacks on the kernel with a single call: refused inside, allowed for root in its own namespaces. */
const CALLS: readonly (readonly [title: string, ...probe: string[]])[] = [
  ['mounts a file system', 'mount'],
  ['mounts a /proc without masks', 'mount-proc'],
  ['opens a file system by the newer calls', 'fsopen'],
  ['moves a mount', 'move-mount'],
  ['takes a cover off /proc', 'unmount', '/proc'],
  ['makes a user namespace, for privileges in it', 'unshare-user'],
  ['makes other namespaces', 'unshare'],
  ['enters a namespace', 'setns'],
  ['changes the root of the mounts', 'pivot-root'],
  ['opens files by number, past mounts (as shocker did)', 'file-handle'],
  ["reaches the kernel's keyrings", 'keyctl'],
  ['loads a BPF map', 'bpf'],
  ['opens performance counters', 'perf'],
  ['handles page faults in user space', 'userfaultfd'],
  ['sets up io_uring', 'io-uring'],
  ['loads a kernel module', 'module'],
  ['loads another kernel', 'kexec'],
  ['reboots the machine', 'reboot'],
  ['swaps to a file of its own', 'swap-on'],
  ["reaches the hardware's ports", 'ports'],
  ["sets the machine's clock", 'clock'],
  ['renames the machine', 'hostname'],
  ["reads the kernel's log", 'kernel-log'],
  ['makes a device node', 'node'],
  ["reads a process's memory past ptrace", 'read-memory', '1'],
  ['speaks to the hypervisor (vsock)', 'vsock'],
  ['opens a socket of a family that is none of unix, IPv4, IPv6 and netlink', 'families'],
  ['opens a pair of sockets of such a family', 'families-of-pairs'],
  ['hides a family behind the upper half of an argument', 'families-beyond-32-bits'],
  ['speaks a netlink protocol other than that of routes', 'netlink'],
  ['calls the kernel as a program of another architecture (32 bits, x32)', 'foreign'],
  ['sends packets of its own making', 'raw-socket'],
  ['reads and writes the wire itself', 'packet-socket'],
  ['marks its packets as others', 'mark'],
  ['lives without a filter of system calls', 'unfiltered'],
  ['gains privileges by what it executes', 'privileges'],
  // DAC_READ_SEARCH, NET_ADMIN, NET_RAW, IPC_OWNER, SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, SYS_BOOT, SYS_NICE,
  // SYS_RESOURCE, SYS_TIME, SYS_TTY_CONFIG, MKNOD, SYSLOG, PERFMON, BPF, CHECKPOINT_RESTORE
  [
    'has a capability that reaches beyond itself',
    'capabilities',
    ...'2 12 13 15 16 17 19 21 22 23 24 25 26 27 34 38 39 40'.split(' '),
  ],
];

/** Kernel files that change or reveal the host. */
const FILES: readonly (readonly [title: string, ...probe: string[]])[] = [
  [
    'pulls the triggers of the kernel',
    'write',
    '/proc/sysrq-trigger',
    '/proc/sys/kernel/sysrq',
    '/proc/sys/vm/drop_caches',
  ],
  ['names the program for core dumps', 'write', '/proc/sys/kernel/core_pattern'],
  [
    'names the program for modules and hot plugging',
    'write',
    '/proc/sys/kernel/modprobe',
    '/sys/kernel/uevent_helper',
    '/proc/sys/kernel/poweroff_cmd',
  ],
  ['changes any kernel setting', 'write-below', '/proc/sys/kernel', '/proc/sys/vm', '/proc/sys/fs'],
  [
    'writes anything below /sys',
    'write-below',
    '/sys/kernel',
    '/sys/module',
    '/sys/fs',
    '/sys/bus',
    '/sys/class',
    '/sys/devices',
  ],
  ["names a control group's release agent", 'named-below', '/sys/fs/cgroup', 'release_agent', 'cgroup.procs'],
  ['leaves its control group', 'named-below', '/sys/fs/cgroup', 'cgroup.procs', 'tasks'],
  [
    'raises its own limits',
    'named-below',
    '/sys/fs/cgroup',
    'memory.max',
    'memory.limit_in_bytes',
    'pids.max',
    'cpu.max',
  ],
  [
    "reads the machine's memory and disks",
    'read',
    '/dev/mem',
    '/dev/port',
    '/dev/kmsg',
    '/dev/vda',
    '/dev/sda',
    '/dev/loop0',
    '/proc/kcore',
  ],
];

export function kernelCases(): EscapeCase[] {
  const calls = CALLS.map(([title, ...probe]) => ({
    title,
    attempt: async ({ sandbox }: Parameters<EscapeCase['attempt']>[0]) => (await sandbox('one')).probe(...probe),
    control: ({ free }: Parameters<EscapeCase['control']>[0]) => free(...probe),
  }));
  const files = FILES.map(([title, ...probe]) => ({
    title,
    attempt: async ({ sandbox }: Parameters<EscapeCase['attempt']>[0]) => (await sandbox('one')).probe(...probe),
    control: ({ free }: Parameters<EscapeCase['control']>[0]) => free(...probe),
  }));
  return [...calls, ...files];
}
