/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET: sandboxes cannot create namespaces. */
const NAMESPACE_FLAGS = 0x7e02_0000;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const EPERM = 1;
const ENOSYS = 38;

/** Calls that ordinary programs use. All others fail with EPERM, including those added by future kernels. */
const ALLOWED = `
accept accept4 access adjtimex alarm bind brk cachestat capget capset chdir chmod chown clock_adjtime clock_getres
clock_gettime clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1
epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit
exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync
fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait
futex_waitv futex_wake futimesat get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid geteuid
getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid
getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr getxattrat inotify_add_watch
inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit ioctl
ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lgetxattr link
linkat listen listmount listxattr listxattrat llistxattr lremovexattr lseek lsetxattr lstat madvise map_shadow_stack
membarrier memfd_create mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr
mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock
munlockall munmap nanosleep newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc
pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 process_mrelease pselect6 pwrite64 pwritev
pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages removexattr removexattrat
rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo
rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop sendfile
sendmmsg sendmsg sendto set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setitimer
setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr setxattrat shmat
shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 splice stat statfs statmount statx symlink symlinkat sync
sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime timer_settime
timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask uname unlink unlinkat uretprobe utime
utimensat utimes vfork vmsplice wait4 waitid write writev
arch_prctl modify_ldt chroot ptrace
`
  .trim()
  .split(/\s+/);

/** Values of personality(2) that only affect the output of `uname` and the start of memory. */
const PERSONALITIES = [0x0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];

type Architecture = 'x64' | 'arm64';

const OCI_NAMES: Readonly<Record<Architecture, string>> = { x64: 'SCMP_ARCH_X86_64', arm64: 'SCMP_ARCH_AARCH64' };

/** The architecture of this process, and of its sandboxes. */
export function machineArchitecture(): Architecture {
  return process.arch === 'arm64' ? 'arm64' : 'x64';
}

/**
 * The `linux.seccomp` part of an OCI configuration. It lists only the machine's own architecture, or all that the machine
 * may have: a program for another one (32 bits, x32) is killed at its first call, or the call fails as nonexistent. Other
 * architectures would need separate rules for their numbers and packed arguments (socketcall).
 */
export function seccompProfile(...architectures: readonly Architecture[]): Readonly<Record<string, unknown>> {
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    architectures: architectures.map((each) => OCI_NAMES[each]),
    syscalls: [
      { names: ALLOWED, action: 'SCMP_ACT_ALLOW' },
      {
        names: ['clone'],
        action: 'SCMP_ACT_ALLOW',
        args: [{ index: 0, value: NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
      },
      // Its flags are in memory, which a filter cannot read; libraries fall back to clone.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
      ...[AF_UNIX, AF_INET, AF_INET6].map((family) => allowWhere(['socket'], equal(0, family))),
      // Programs use it to list interfaces, addresses and routes; other netlink protocols reach more of the kernel.
      allowWhere(['socket'], equal(0, AF_NETLINK), equal(2, NETLINK_ROUTE)),
      allowWhere(['socketpair'], equal(0, AF_UNIX)),
      ...PERSONALITIES.map((value) => allowWhere(['personality'], equal(0, value))),
    ],
  };
}

function equal(index: number, value: number) {
  return { index, value, op: 'SCMP_CMP_EQ' } as const;
}

/** Allows calls whose arguments all match. */
function allowWhere(names: readonly string[], ...args: readonly ReturnType<typeof equal>[]) {
  return { names, action: 'SCMP_ACT_ALLOW', args } as const;
}
