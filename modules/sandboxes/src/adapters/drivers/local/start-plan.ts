import type { PreparedImage } from '../../images/image-store.ts';
import { sandboxErrors } from '../../../errors.ts';
import type { SandboxSpec } from '../../../domain/driver.ts';
import { NO_SETTINGS } from '../../../domain/images/image-settings.ts';
import { closedRules } from './egress/egress-rules.ts';
import { isLimited } from './egress/local-egress.ts';
import { firewallRules, firewallTable, forwardingRules } from './firewall-rules.ts';
import type { Machine } from './machine.ts';
import { machineArchitecture } from './seccomp-profile.ts';
import { hostPids, runscConfig } from './gvisor/runsc-config.ts';
import { ociConfig, PARENT_GROUP } from './oci-config.ts';
import { RUNTIME_FLAGS, type Runtime } from './runtime.ts';

/** Ids inside a sandbox map to 65,536 dedicated host ids, far above those of users and services. */
const FIRST_UID = 0x1000_0000;
const UIDS_PER_SANDBOX = 65_536;

export interface StartPlanOptions {
  readonly machine: Machine;
  readonly image: PreparedImage;
  /** The sandbox's disk, and the template it is created from at the first start. */
  readonly disk: string;
  readonly diskTemplate: string;
  readonly addressPrefix: string;
  /** Path of a volume. */
  readonly volumeFile: (volumeId: string) => string;
  /** From `LocalMounts.plan`. */
  readonly buckets: readonly Record<string, unknown>[];
}

/** Everything the launcher needs to start a sandbox; the launcher makes no decisions of its own. */
export function startPlan(spec: SandboxSpec, options: StartPlanOptions): Record<string, unknown> {
  const { machine, image } = options;
  const { kind } = runtimeFor(spec, machine);
  const config = ociConfig(spec, {
    runtimeKind: kind,
    image: image.settings,
    helperFile: machine.helperFile,
    architecture: machineArchitecture(),
    cgroupsPath: `/${PARENT_GROUP}/${spec.id}`,
  });
  return {
    ...preparationPlan(spec, options),
    layers: image.layers,
    volumes: (spec.volumes ?? []).map(({ volumeId, path, readOnly }) => ({
      id: volumeId,
      file: options.volumeFile(volumeId),
      path,
      read_only: readOnly,
    })),
    buckets: options.buckets,
    layerable: spec.template?.building === true,
    seccomp_file: machine.seccompFile,
    config: kind === 'runsc' ? runscConfig(config, spec.resources) : config,
  };
}

/** The part of a start that does not depend on the image, which can be prepared ahead. */
export function preparationPlan(
  spec: SandboxSpec,
  { machine, disk, diskTemplate, addressPrefix }: Omit<StartPlanOptions, 'image' | 'volumeFile' | 'buckets'>,
): Record<string, unknown> {
  const runtime = runtimeFor(spec, machine);
  return {
    runtime: runtime.path,
    runtime_kind: runtime.kind,
    runtime_flags: RUNTIME_FLAGS[runtime.kind],
    disk,
    disk_template: diskTemplate,
    files: firstFiles(spec, machine.nameservers, addressPrefix),
    limits: limitsOf(spec),
    uid_base: FIRST_UID,
    uid_count: UIDS_PER_SANDBOX,
    network: {
      mode: spec.network,
      restrict: isLimited(spec.egressAllow) ? closedRules(spec.id, spec.egressAllow) : '',
      network: `${addressPrefix}.0.0`,
      gateway: `${addressPrefix}.0.1`,
      nft: machine.nft,
      group: machine.interfaceGroup,
      rules:
        forwardingRules(machine.guardedInterfaces) +
        firewallRules({
          table: firewallTable(machine.interfaceGroup),
          interfaces: { group: machine.interfaceGroup },
          nameservers: machine.nameservers,
          range: `${addressPrefix}.0.0/16`,
        }),
    },
  };
}

/** Runs only our own helper, on a few files at a time. */
const SERVER_RESOURCES = { cpuMillis: 1000, memoryMb: 128, diskMb: 0, pids: 64 };
/** Owners of files, and `CAP_SYS_CHROOT` to make the volume the root. */
const SERVER_CAPABILITIES = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_FSETID', 'CAP_SYS_CHROOT'];
/** Inside, until the volume becomes the root. */
const SERVED_PATH = '/volume';

/**
 * The start of a helper that serves a volume: isolated like a sandbox by the host kernel, whatever runs sandboxes here, but without
 * image, disk, network and programs.
 */
export function volumeServerPlan(
  id: string,
  volumeId: string,
  file: string,
  machine: Machine,
): Record<string, unknown> {
  const common = { image: '', network: 'none', isolation: 'namespaces' } as const;
  const spec: SandboxSpec = { id, hostname: 'volume', resources: SERVER_RESOURCES, ...common };
  const runtime: Runtime = { kind: 'builtin', path: '' };
  const config = ociConfig(spec, {
    runtimeKind: runtime.kind,
    image: { ...NO_SETTINGS, workingFolder: '/' },
    helperFile: machine.helperFile,
    architecture: machineArchitecture(),
    capabilities: SERVER_CAPABILITIES,
    cgroupsPath: `/${PARENT_GROUP}/${id}`,
  });
  return {
    ...preparationPlan(spec, { machine: { ...machine, runtime }, disk: '', diskTemplate: '', addressPrefix: '' }),
    files: {},
    layers: [],
    volumes: [{ id: volumeId, file, path: SERVED_PATH, read_only: false }],
    buckets: [],
    seccomp_file: machine.seccompFile,
    config,
    serves_volume: true,
  };
}

/** Never returns a runtime with weaker isolation than requested. */
function runtimeFor({ isolation }: SandboxSpec, { runtime, gvisor }: Machine): Runtime {
  if (isolation === 'namespaces') return runtime;
  if (gvisor.fault !== null) {
    throw sandboxErrors.UNSUPPORTED_ISOLATION({ details: { field: 'isolation', isolation, reason: gvisor.fault } });
  }
  return { kind: 'runsc', path: gvisor.path };
}

/** Changes to apply to a running sandbox. */
export function adjustment(spec: SandboxSpec, machine: Machine): Record<string, unknown> {
  const { 'etc/resolv.conf': _same, ...files } = firstFiles(spec, machine.nameservers, '');
  return { hostname: spec.hostname, limits: limitsOf(spec), files };
}

function limitsOf({ resources, isolation }: SandboxSpec): Record<string, number> {
  return {
    memory_bytes: resources.memoryMb * 1024 * 1024,
    pids: isolation === 'gvisor' ? hostPids(resources) : resources.pids,
    cpu_millis: resources.cpuMillis,
  };
}

export function firstFiles(
  spec: SandboxSpec,
  nameservers: readonly string[],
  addressPrefix: string,
): Record<string, string> {
  const resolvers = isLimited(spec.egressAllow) ? [`${addressPrefix}.0.1`] : nameservers;
  return {
    'etc/hostname': `${spec.hostname}\n`,
    'etc/hosts': `127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 ${spec.hostname}\n`,
    'etc/resolv.conf': spec.network === 'egress' ? resolvers.map((address) => `nameserver ${address}\n`).join('') : '',
  };
}
