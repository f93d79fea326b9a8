import type { EscapeCase } from './escape-case.ts';

/** Attacks on the kernel with a single call: refused inside, allowed for root in its own namespaces. */
const CALLS: readonly (readonly [title: string, ...probe: string[]])[] = [
  ['mounts a file system', 'mount'],
  ['mounts a /proc without masks', 'mount-proc'],
  ['mounts a file system with the new mount API (fsopen)', 'fsopen'],
  ['moves a mount', 'move-mount'],
  ['unmounts a mask of /proc', 'unmount', '/proc'],
  ['creates a user namespace to gain privileges', 'unshare-user'],
  ['creates other namespaces', 'unshare'],
  ['enters a namespace', 'setns'],
  ['changes the root mount (pivot_root)', 'pivot-root'],
  ['opens files by handle, past mounts (Shocker)', 'file-handle'],
  ["accesses the kernel's keyrings", 'keyctl'],
  ['loads a BPF map', 'bpf'],
  ['opens performance counters', 'perf'],
  ['handles page faults in user space (userfaultfd)', 'userfaultfd'],
  ['sets up io_uring', 'io-uring'],
  ['loads a kernel module', 'module'],
  ['loads another kernel (kexec)', 'kexec'],
  ['reboots the host', 'reboot'],
  ['enables swap on its own file', 'swap-on'],
  ['accesses I/O ports', 'ports'],
  ["sets the host's clock", 'clock'],
  ['changes the hostname', 'hostname'],
  ["reads the kernel's log", 'kernel-log'],
  ['creates a device node', 'node'],
  ["reads a process's memory without ptrace (process_vm_readv)", 'read-memory', '1'],
  ['connects to the hypervisor (vsock)', 'vsock'],
  ['opens a socket of a family other than unix, IPv4, IPv6 and netlink', 'families'],
  ['opens a socket pair of such a family', 'families-of-pairs'],
  ['hides a socket family in the upper half of an argument', 'families-beyond-32-bits'],
  ['uses a netlink protocol other than route', 'netlink'],
  ['makes system calls of another architecture (32-bit, x32)', 'foreign'],
  ['sends raw packets', 'raw-socket'],
  ['reads and writes raw Ethernet frames', 'packet-socket'],
  ['sets firewall marks on its packets', 'mark'],
  ['runs without a system call filter', 'unfiltered'],
  ['gains privileges by executing a program', 'privileges'],
  // DAC_READ_SEARCH, NET_ADMIN, NET_RAW, IPC_OWNER, SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, SYS_BOOT, SYS_NICE,
  // SYS_RESOURCE, SYS_TIME, SYS_TTY_CONFIG, MKNOD, SYSLOG, PERFMON, BPF, CHECKPOINT_RESTORE
  [
    'has a capability that affects the host',
    'capabilities',
    ...'2 12 13 15 16 17 19 21 22 23 24 25 26 27 34 38 39 40'.split(' '),
  ],
];

/** Kernel files that change or reveal the host. */
const FILES: readonly (readonly [title: string, ...probe: string[]])[] = [
  [
    'uses kernel triggers (/proc/sysrq-trigger)',
    'write',
    '/proc/sysrq-trigger',
    '/proc/sys/kernel/sysrq',
    '/proc/sys/vm/drop_caches',
  ],
  ['sets the core dump handler', 'write', '/proc/sys/kernel/core_pattern'],
  [
    'sets the handler for modules and hot plugging',
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
  ["sets a control group's release agent", 'named-below', '/sys/fs/cgroup', 'release_agent', 'cgroup.procs'],
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
