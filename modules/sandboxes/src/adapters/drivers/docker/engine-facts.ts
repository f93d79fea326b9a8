import { asFields, parseText } from './engine-client.ts';

/** Engine properties that determine what sandboxes can use. */
export interface EngineFacts {
  readonly version: string;
  readonly architecture: 'x64' | 'arm64';
  /** Names of its OCI runtimes. */
  readonly runtimes: ReadonlySet<string>;
  readonly defaultRuntime: string;
  readonly cgroups: string;
  /** Ids are mapped to others outside (`userns-remap`, or a rootless engine). */
  readonly userNamespace: boolean;
  readonly seccomp: boolean;
  /** Why containers have no disk limit; null if they can have one. */
  readonly noDiskLimit: string | null;
}

/** Reads `/info` and `/version`. Throws a readable error if the engine cannot run sandboxes. */
export function readFacts(info: unknown, version: unknown): EngineFacts {
  const fields = asFields(info);
  const security = (Array.isArray(fields['SecurityOptions']) ? fields['SecurityOptions'] : []).map(String);
  if (fields['OSType'] !== 'linux') throw new Error('the Docker Engine runs no Linux containers');
  const has = (name: string): boolean => security.some((each) => each.split(',')[0] === `name=${name}`);
  if (!has('seccomp')) throw new Error('the Docker Engine filters no system calls (seccomp is off)');
  for (const [field, what] of [
    ['MemoryLimit', 'memory'],
    ['PidsLimit', 'processes'],
    ['CpuCfsQuota', 'CPU'],
  ] as const) {
    if (fields[field] === false) throw new Error(`the Docker Engine cannot limit ${what} on this kernel`);
  }
  return {
    version: parseText(asFields(version)['Version'], 'unknown'),
    architecture: /aarch64|arm64/.test(String(fields['Architecture'])) ? 'arm64' : 'x64',
    runtimes: new Set(Object.keys(asFields(fields['Runtimes']))),
    defaultRuntime: parseText(fields['DefaultRuntime'], 'runc'),
    cgroups: `v${parseText(fields['CgroupVersion'], '1')}`,
    userNamespace: has('userns') || has('rootless'),
    seccomp: true,
    noDiskLimit: noDiskLimit(String(fields['Driver']), fields['DriverStatus']),
  };
}

/** https://docs.docker.com/reference/cli/docker/container/run/#storage-opt */
function noDiskLimit(driver: string, status: unknown): string | null {
  if (driver === 'btrfs' || driver === 'zfs') return null;
  const backing = (Array.isArray(status) ? status : []).find(
    (pair) => Array.isArray(pair) && pair[0] === 'Backing Filesystem',
  );
  // Needs pquota; the first create tests it.
  if (driver === 'overlay2' && Array.isArray(backing) && backing[1] === 'xfs') return null;
  return `its storage driver ${driver} has no limit; btrfs, zfs, or overlay2 on xfs with pquota have one`;
}
