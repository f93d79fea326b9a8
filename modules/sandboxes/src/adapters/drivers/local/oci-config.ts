import type { ImageSettings } from '../../images/image-settings.ts';
import type { SandboxSpec } from '../../../domain/driver.ts';
import type { RuntimeKind } from './runtime.ts';
import { seccompProfile } from './seccomp-profile.ts';

/** Where the helper stands inside; nothing of a sandbox's own lies there. */
export const AGENT_PATH = '/.sandbox/agent';

const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What root inside may do with its own files and processes. None of it reaches beyond the user namespace. */
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

/** Not to be seen at all. */
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
/** To be seen only. */
export const READ_ONLY_PATHS: readonly string[] = [
  '/proc/bus',
  '/proc/fs',
  '/proc/irq',
  '/proc/sys',
  '/proc/sysrq-trigger',
];

export interface OciOptions {
  readonly runtimeKind: RuntimeKind;
  /** Environment and working folder are those of the helper, which hands them to whatever it starts. */
  readonly image: ImageSettings;
  /** The helper's binary on the host. */
  readonly agentFile: string;
  readonly architecture: 'x64' | 'arm64';
  /** Parent and name of the control group, for a runtime that makes its own. */
  readonly cgroupsPath: string;
}

/**
 * The OCI runtime configuration (runtime-spec 1.0.2) of a sandbox. The launcher adds what exists only at the start: the
 * root's path and the user and network namespaces.
 */
export function ociConfig(spec: SandboxSpec, options: OciOptions): Readonly<Record<string, unknown>> {
  return {
    ociVersion: '1.0.2',
    hostname: spec.hostname,
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: [AGENT_PATH, 'init'],
      env: Object.entries({ PATH: USUAL_PATH, ...options.image.environment }).map(
        ([name, value]) => `${name}=${value}`,
      ),
      cwd: options.image.workingFolder ?? '/',
      noNewPrivileges: true,
      capabilities: { bounding: CAPABILITIES, effective: CAPABILITIES, permitted: CAPABILITIES },
    },
    mounts: mountsOf(spec, options),
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount', 'cgroup'].map((type) => ({ type })),
      maskedPaths: MASKED_PATHS,
      readonlyPaths: READ_ONLY_PATHS,
      seccomp: seccompProfile(options.architecture),
      ...(options.runtimeKind === 'runc' ? { cgroupsPath: options.cgroupsPath } : {}),
    },
  };
}

function mountsOf(spec: SandboxSpec, options: OciOptions): unknown[] {
  const quiet = ['nosuid', 'noexec', 'nodev'];
  // What lies in it counts against the sandbox's own memory: full, it must leave something to run in.
  const sharedKib = Math.min(spec.resources.memoryMb * 512, 1024 * 1024);
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: quiet },
    // A fresh one, never the image's: links in an image's /dev have led out of containers.
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
    // runc makes its own user namespace, which does not own the network namespace that sysfs would show.
    ...(options.runtimeKind !== 'runc'
      ? [{ destination: '/sys', type: 'sysfs', source: 'sysfs', options: [...quiet, 'ro'] }]
      : []),
    {
      destination: AGENT_PATH,
      type: 'bind',
      source: options.agentFile,
      options: ['bind', 'ro', 'nosuid', 'nodev'],
    },
  ];
}
