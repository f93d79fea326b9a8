import { USUAL_PATH, type ImageSettings } from '../../../domain/images/image-settings.ts';
import type { SandboxSpec } from '../../../domain/driver.ts';
import type { RuntimeKind } from './runtime.ts';
import { seccompProfile } from './seccomp-profile.ts';

/** Path of the helper inside a sandbox, outside the sandbox's own files. */
export const HELPER_PATH = '/.sandbox/agent';

/** Control group of all sandboxes of this machine. */
export const PARENT_GROUP = 'svc-sandboxes';

/** What root inside may do with its own files and processes; none of it reaches beyond the user namespace. */
export const CAPABILITIES: readonly string[] = [
  'CAP_AUDIT_WRITE',
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_NET_BIND_SERVICE',
  'CAP_SETFCAP',
  'CAP_SETGID',
  'CAP_SETPCAP',
  'CAP_SETUID',
  'CAP_SYS_CHROOT',
];

/** Paths hidden completely. */
export const MASKED_PATHS: readonly string[] = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
  '/sys/fs/selinux',
];
/** Read-only paths. */
export const READ_ONLY_PATHS: readonly string[] = [
  '/proc/bus',
  '/proc/fs',
  '/proc/irq',
  '/proc/sys',
  '/proc/sysrq-trigger',
];

export interface OciOptions {
  readonly runtimeKind: RuntimeKind;
  /** The helper gets the image's environment and working folder and passes them to every process it starts. */
  readonly image: ImageSettings;
  /** The helper binary on the host. */
  readonly helperFile: string;
  readonly architecture: 'x64' | 'arm64';
  /** What root inside may do; `CAPABILITIES` by default. */
  readonly capabilities?: readonly string[];
  /** Parent and name of the control group, for a runtime that creates its own. */
  readonly cgroupsPath: string;
}

/**
 * The OCI runtime configuration (runtime-spec 1.0.2) of a sandbox. The launcher adds what exists only at the start: the
 * root's path and the user and network namespaces.
 */
export function ociConfig(spec: SandboxSpec, options: OciOptions): Readonly<Record<string, unknown>> {
  const { capabilities = CAPABILITIES } = options;
  return {
    ociVersion: '1.0.2',
    hostname: spec.hostname,
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: [HELPER_PATH, 'init'],
      env: Object.entries({ PATH: USUAL_PATH, ...options.image.environment }).map(
        ([name, value]) => `${name}=${value}`,
      ),
      cwd: options.image.workingFolder ?? '/',
      noNewPrivileges: true,
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
    },
    mounts: mountsOf(spec, options),
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount', 'cgroup'].map((type) => ({ type })),
      maskedPaths: MASKED_PATHS,
      readonlyPaths: READ_ONLY_PATHS,
      // The launcher compiles the filter of its own runtime from a file, once.
      ...(options.runtimeKind === 'builtin' ? {} : { seccomp: seccompProfile(options.architecture) }),
      ...(options.runtimeKind === 'runc' ? { cgroupsPath: options.cgroupsPath } : {}),
    },
  };
}

function mountsOf(spec: SandboxSpec, options: OciOptions): unknown[] {
  const quiet = ['nosuid', 'noexec', 'nodev'];
  // Its content counts against the sandbox's memory; when full, it must leave memory for processes.
  const sharedKib = Math.min(spec.resources.memoryMb * 512, 1024 * 1024);
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: quiet },
    // Always a new one, never the image's: links in an image's /dev have allowed container escapes.
    {
      destination: '/dev',
      type: 'tmpfs',
      source: 'tmpfs',
      options: ['nosuid', 'noexec', 'strictatime', 'mode=755', 'size=64k'],
    },
    {
      destination: '/dev/pts',
      type: 'devpts',
      source: 'devpts',
      options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'],
    },
    {
      destination: '/dev/shm',
      type: 'tmpfs',
      source: 'shm',
      options: [...quiet, 'mode=1777', `size=${sharedKib}k`],
    },
    { destination: '/dev/mqueue', type: 'mqueue', source: 'mqueue', options: quiet },
    // runc creates its own user namespace, which does not own the network namespace that sysfs would show.
    ...(options.runtimeKind !== 'runc'
      ? [{ destination: '/sys', type: 'sysfs', source: 'sysfs', options: [...quiet, 'ro'] }]
      : []),
    {
      destination: HELPER_PATH,
      type: 'bind',
      source: options.helperFile,
      options: ['bind', 'ro', 'nosuid', 'nodev'],
    },
  ];
}
