import type { PreparedImage } from '../../images/image-store.ts';
import type { SandboxSpec } from '../driver.ts';
import { closedRules } from './egress/egress-rules.ts';
import { isLimited } from './egress/local-egress.ts';
import { firewallRules } from './firewall-rules.ts';
import type { Machine } from './machine.ts';
import { ociConfig } from './oci-config.ts';

/** Ids inside of a sandbox are mapped to 65,536 ids of its own here, far above those of people and services. */
const FIRST_UID = 0x1000_0000;
const UIDS_PER_SANDBOX = 65_536;

export interface StartPlanOptions {
  readonly machine: Machine;
  readonly image: PreparedImage;
  /** The sandbox's disk, and what it is made of at the first start. */
  readonly disk: string;
  readonly diskTemplate: string;
  readonly addressPrefix: string;
}

/** Everything that the launcher needs to start a sandbox: it decides nothing itself. */
export function startPlan(spec: SandboxSpec, options: StartPlanOptions): Record<string, unknown> {
  const { machine, image, addressPrefix } = options;
  return {
    runtime: machine.runtime.path,
    runtime_kind: machine.runtime.kind,
    layers: image.layers,
    disk: options.disk,
    disk_template: options.diskTemplate,
    files: firstFiles(spec, machine.nameservers, addressPrefix),
    limits: limitsOf(spec),
    uid_base: FIRST_UID,
    uid_count: UIDS_PER_SANDBOX,
    network: {
      mode: spec.network,
      restrict: isLimited(spec.egressAllow) ? closedRules(spec.id) : '',
      network: `${addressPrefix}.0.0`,
      gateway: `${addressPrefix}.0.1`,
      nft: machine.nft,
      rules: firewallRules({
        nameservers: machine.nameservers,
        range: `${addressPrefix}.0.0/16`,
        guardedInterfaces: machine.guardedInterfaces,
      }),
    },
    config: ociConfig(spec, {
      runtimeKind: machine.runtime.kind,
      image: image.settings,
      agentFile: machine.agentFile,
      architecture: process.arch === 'arm64' ? 'arm64' : 'x64',
      cgroupsPath: `/svc-sandboxes/${spec.id}`,
    }),
  };
}

/** What changes of a sandbox that runs already. */
export function adjustment(spec: SandboxSpec, machine: Machine): Record<string, unknown> {
  const { 'etc/resolv.conf': _same, ...files } = firstFiles(spec, machine.nameservers, '');
  return { hostname: spec.hostname, limits: limitsOf(spec), files };
}

function limitsOf({ resources }: SandboxSpec): Record<string, number> {
  return {
    memory_bytes: resources.memoryMb * 1024 * 1024,
    pids: resources.pids,
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
