import { statfsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { accountQuotas, type QuotaSource } from '@svc/accounts';
import { clusterQuotas } from '@svc/clusters';
import { storeQuotas } from '@svc/object-store';
import { defaultLimits, trafficQuotas, type Limit, type Quota, type QuotaScope, type Usage } from '@svc/quotas';
import { sandboxQuotas } from '@svc/sandboxes';
import type { PlatformConfig } from './config.ts';
import { quotaCatalogue } from './quota-catalogue.ts';

/** Above what one CPU serves (about 3,000 small GETs a second), so that it stops floods, not work. */
const REQUESTS_PER_CPU = 10_000;
/** Leaves room for an owner's other workspaces if one is at its limit. */
const OWNER_RATE_FACTOR = 2;
const OWNER_FACTOR = 10;
const CALLERS_PER_WORKSPACE = 5;
const MIB = 1024 * 1024;

/** Basis of the `auto` defaults. */
export interface Machine {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Size of the file system of the data folder. */
  readonly diskBytes: number;
}

export function thisMachine(dataFolder: string): Machine {
  const { blocks, bsize } = statfsSync(dataFolder);
  return { cpus: availableParallelism(), memoryBytes: totalmem(), diskBytes: blocks * bsize };
}

export function createQuotaSource(
  config: PlatformConfig,
  machine: Machine,
  usage: (workspaceUuids: readonly string[]) => Promise<Usage>,
): QuotaSource {
  const defaults = defaultLimits(quotaCatalogue, config.quotas, (quota, scope) =>
    automaticLimit(quota, scope, config, machine),
  );
  return { catalogue: quotaCatalogue, defaults, usage };
}

function automaticLimit(quota: Quota, scope: QuotaScope, config: PlatformConfig, machine: Machine): Limit {
  const { sandboxes, object_store: store, clusters } = config;
  const { cpus, memoryBytes, diskBytes } = machine;
  const here = (limit: number): Limit => (sandboxes.driver === 'local' ? Math.floor(limit) : null);
  switch (quota.name) {
    case sandboxQuotas.sandboxes.name:
      return CALLERS_PER_WORKSPACE * sandboxes.max_per_caller;
    case sandboxQuotas.snapshots.name:
      return CALLERS_PER_WORKSPACE * sandboxes.max_snapshots_per_caller;
    // Overcommit: sandboxes rarely use everything that they may.
    case sandboxQuotas.sandbox_cpus.name:
      return here(16 * cpus);
    case sandboxQuotas.sandbox_memory.name:
      return here((4 * memoryBytes) / MIB);
    case sandboxQuotas.sandbox_disk.name:
      return here((4 * diskBytes) / MIB);
    case storeQuotas.stored_bytes.name:
      return store.engine === 'embedded' ? Math.floor(0.8 * diskBytes) : null;
    case storeQuotas.buckets.name:
      return store.limits.buckets_per_workspace * (scope === 'owner' ? OWNER_FACTOR : 1);
    case clusterQuotas.clusters.name:
      return clusters.max_clusters_per_workspace * (scope === 'owner' ? OWNER_FACTOR : 1);
    case trafficQuotas.requests_per_second.name:
      return REQUESTS_PER_CPU * cpus * (scope === 'owner' ? OWNER_RATE_FACTOR : 1);
    case trafficQuotas.creates_per_minute.name:
      return CALLERS_PER_WORKSPACE * sandboxes.max_creates_per_minute;
    case accountQuotas.workspaces.name:
      return config.accounts.limits.workspaces_per_owner;
    case accountQuotas.teams.name:
      return config.accounts.limits.teams_per_owner;
    default:
      throw new Error(`no default is defined for auto of ${quota.name}`);
  }
}
