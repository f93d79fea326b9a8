import type { ImageSettings } from '../../../domain/images/image-settings.ts';
import type { SandboxSpec } from '../../../domain/driver.ts';
import { HELPER_PATH, CAPABILITIES, MASKED_PATHS, READ_ONLY_PATHS } from '../local/oci-config.ts';
import { seccompProfile } from '../local/seccomp-profile.ts';
import { OWNER_LABEL, SANDBOX_LABEL } from './names.ts';

const MiB = 1024 * 1024;
const MAX_SHARED_BYTES = 1024 * MiB;
/** Low enough to be set by an engine that has a limit itself. */
const MAX_OPEN_FILES = 16_384;

export interface ContainerOptions {
  readonly owner: string;
  /** Id of the image in the engine. */
  readonly image: string;
  /** Image settings missing from the engine's copy; null if the copy has them. */
  readonly settings: ImageSettings | null;
  readonly helperVolume: string;
  readonly architecture: 'x64' | 'arm64';
  /** Name of a network, or `none`. */
  readonly network: string;
  readonly nameservers: readonly string[];
  readonly runtime: string | null;
  /** Whether the engine's storage supports a container size limit. */
  readonly limitDisk: boolean;
}

/** The body of `POST /containers/create`. Provides the local driver's isolation as far as an engine supports it. */
export function containerRequest(spec: SandboxSpec, options: ContainerOptions): Readonly<Record<string, unknown>> {
  const { settings } = options;
  return {
    Image: options.image,
    Hostname: spec.hostname,
    User: '0:0',
    Entrypoint: [HELPER_PATH, 'init', '--bridged'],
    Cmd: [],
    ...(settings === null
      ? {}
      : {
          Env: Object.entries(settings.environment).map(([name, value]) => `${name}=${value}`),
          WorkingDir: settings.workingFolder ?? '',
        }),
    StopSignal: 'SIGTERM',
    Healthcheck: { Test: ['NONE'] },
    Tty: false,
    OpenStdin: false,
    Labels: { [OWNER_LABEL]: options.owner, [SANDBOX_LABEL]: spec.id },
    HostConfig: hostConfig(spec, options),
  };
}

function hostConfig(spec: SandboxSpec, options: ContainerOptions): Readonly<Record<string, unknown>> {
  const { resources } = spec;
  const memory = resources.memoryMb * MiB;
  return {
    ...(options.runtime === null ? {} : { Runtime: options.runtime }),
    NetworkMode: options.network,
    ...(options.network !== 'none' && options.nameservers.length > 0 ? { Dns: options.nameservers } : {}),
    // Engines write the hosts entry from the network address; without a network, the sandbox could not resolve its own
    // name.
    ...(options.network === 'none' ? { ExtraHosts: [`${spec.hostname}:127.0.1.1`] } : {}),
    Memory: memory,
    MemorySwap: memory, // sum of memory and swap: no swap
    NanoCpus: resources.cpuMillis * 1_000_000,
    PidsLimit: resources.pids,
    ShmSize: Math.min(memory / 2, MAX_SHARED_BYTES), // must leave memory for processes when full
    ...(options.limitDisk ? { StorageOpt: { size: `${resources.diskMb}M` } } : {}),
    Ulimits: [
      { Name: 'nofile', Soft: MAX_OPEN_FILES, Hard: MAX_OPEN_FILES },
      { Name: 'core', Soft: 0, Hard: 0 },
    ],
    Mounts: [
      {
        Type: 'volume',
        Source: options.helperVolume,
        Target: HELPER_PATH.slice(0, HELPER_PATH.lastIndexOf('/')),
        ReadOnly: true,
        VolumeOptions: { NoCopy: true },
      },
    ],
    CapDrop: ['ALL'],
    CapAdd: CAPABILITIES.map((name) => name.replace(/^CAP_/, '')),
    SecurityOpt: ['no-new-privileges=true', `seccomp=${JSON.stringify(seccompProfile(options.architecture))}`],
    MaskedPaths: MASKED_PATHS,
    ReadonlyPaths: READ_ONLY_PATHS,
    Privileged: false,
    IpcMode: 'private',
    CgroupnsMode: 'private',
    Init: false,
    RestartPolicy: { Name: 'no' },
    // The helper prints nothing, and a growing log could fill the host's disk.
    LogConfig: { Type: 'none' },
  };
}
