import { statfsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import type { QuotaSource } from '@svc/accounts';
import { trafficQuotas } from '@svc/http';
import { defaultLimits, type Limit, type Quota, type Usage } from '@svc/quotas';
import type { PlatformConfig } from './config.ts';
import { quotaCatalogue } from './quota-catalogue.ts';

const REQUESTS_PER_CPU = 2_000;

/** What the defaults named `auto` follow from. */
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
  const defaults = defaultLimits(quotaCatalogue, config.quotas, (quota) => automaticLimit(quota, config, machine));
  return { catalogue: quotaCatalogue, defaults, usage };
}

function automaticLimit(quota: Quota, _config: PlatformConfig, { cpus }: Machine): Limit {
  switch (quota.name) {
    case trafficQuotas.requests_per_second.name:
      return REQUESTS_PER_CPU * cpus;
    default:
      throw new Error(`nothing says what auto means for ${quota.name}`);
  }
}
