import { networkInterfaces } from 'node:os';
import { createInternalListener, Forwarder, type Owners } from '@svc/forward';
import { noForwarding, type Forwarding, type Listener, type ListenerOptions, type OwnerFinders } from '@svc/http';
import type { QuotaLimits } from '@svc/quotas';
import type { ReplicaRegistry, SealedSecrets } from '@svc/replicas';
import type { DatabaseEvents } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';
import type { Lifecycle } from './lifecycle.ts';
import { InternalIdentity } from './internal-identity.ts';

export interface ForwardingDeps {
  config: PlatformConfig;
  replica: ReplicaRegistry;
  secrets: SealedSecrets;
  events: DatabaseEvents;
  /** Of all modules; read on each use, because the modules are created later. */
  finders: () => OwnerFinders;
  log: Logger;
  metrics: Metrics;
  lifecycle: Lifecycle;
  quotaLimits: Pick<QuotaLimits, 'shareOf'>;
}

/** What the internal listener needs; null if this process has no other replicas. */
export type Internal = { forwarder: Forwarder; identity: InternalIdentity } | null;

/** Connects this process with the other replicas of its database. */
export async function openForwarding(deps: ForwardingDeps): Promise<{ forwarding: Forwarding; internal: Internal }> {
  const { config, replica, secrets, events, finders, log, metrics, lifecycle, quotaLimits } = deps;
  if (internalAddress(config) === null) return { forwarding: noForwarding, internal: null };
  const identity = await InternalIdentity.open({ secrets, replica, log });
  const forwarder = new Forwarder({
    self: replica.id,
    identity: identity.identity,
    owners: createOwners(replica, finders),
    livePeers: async () => (await replica.live()).map(({ id, bootId }) => ({ replica: id, bootId })),
    nowMs: () => replica.nowMs(),
    onError: (err) => log.warn({ err }, 'the live replicas could not be read'),
    shareOf: quotaLimits.shareOf,
  });
  identity.onChange((renewed) => forwarder.replaceIdentity(renewed));
  identity.follow(events);
  lifecycle.own('internal identity', () => identity.close());
  forwarder.start();
  lifecycle.own('forwarding', () => forwarder.close());
  const help = 'Requests and connections that this replica forwards to another one';
  metrics.observableGauge('svc_forwards_open', help, () => forwarder.open);
  return { forwarding: forwarder, internal: { forwarder, identity } };
}

/** Every replica is found by its row. One without a URL cannot be reached, so nothing is forwarded to it. */
export function createOwners(replica: Pick<ReplicaRegistry, 'id' | 'live'>, finders: () => OwnerFinders): Owners {
  return {
    find: async ({ kind, id, workspaceUuid }) => {
      const holder = (await finders()[kind]?.(id, workspaceUuid)) ?? null;
      if (holder === null) return 'none';
      if (holder === replica.id) return 'here';
      const peer = (await replica.live()).find((each) => each.id === holder);
      if (peer === undefined || peer.url === null) return 'none';
      return { replica: peer.id, bootId: peer.bootId, url: peer.url };
    },
  };
}

/** Creates the internal listener. It serves what other replicas forward, and nothing else: no console, no S3. */
export function createInternal(
  { forwarder, identity }: NonNullable<Internal>,
  served: Required<Pick<ListenerOptions, 'handler' | 'onUpgrade' | 'onSlowBody' | 'onClosing' | 'shares'>>,
): Listener {
  const listener = createInternalListener({ ...served, forwarder, identity: identity.identity });
  identity.onChange((renewed) => listener.replaceIdentity(renewed));
  return listener;
}

export interface InternalAddress {
  host: string;
  port: number;
}

const ADDRESS = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/;

/** Where the internal listener listens; null without one. With SQLite, no other replica can exist. */
export function internalAddress({ database, host, internal }: PlatformConfig): InternalAddress | null {
  if (database.url === undefined || internal.listen === 'off') return null;
  if (internal.listen === undefined) return { host, port: 0 };
  const [, bracketed, plain, port] = ADDRESS.exec(internal.listen) ?? [];
  return { host: bracketed ?? plain ?? host, port: Number(port) };
}

/** The URL at which other replicas reach the internal listener. */
export function advertisedUrl({ internal }: PlatformConfig, { host, port }: InternalAddress): string {
  if (internal.advertise_url !== undefined) return internal.advertise_url;
  const reachable = host === '0.0.0.0' || host === '::' ? (ownAddress() ?? '127.0.0.1') : host;
  return `https://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** The first address that other machines may reach. */
function ownAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outside = addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return (outside.find(({ family }) => family === 'IPv4') ?? outside[0])?.address;
}
