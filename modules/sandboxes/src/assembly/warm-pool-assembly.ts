import { freemem, totalmem } from 'node:os';
import type { Metrics } from '@svc/telemetry';
import type { SandboxesConfig } from '../config.ts';
import type { Boots } from '../domain/boots.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { IsolationPolicy } from '../domain/isolation.ts';
import { WarmPool } from '../domain/warm-pool.ts';
import type { SandboxSpec } from '../domain/driver.ts';
import type { ImageCatalog } from '../domain/images/catalog.ts';

const DEFAULT_MIN = 2;
const DEFAULT_MAX = 8;
/** The pool keeps no sandboxes warm when free memory drops below this share of the total. */
const SPARE_MEMORY = 0.1;

export function createWarmPool(
  { driver, drain, clock, random, log }: SandboxContext,
  boots: Boots,
  config: SandboxesConfig,
  catalog: ImageCatalog,
  isolation: IsolationPolicy,
): WarmPool {
  return new WarmPool({
    driver,
    plans: config.warm_pool.flatMap(({ image, min = DEFAULT_MIN, max = DEFAULT_MAX }) => {
      const entry = catalog.find(image);
      if (entry !== null) return [{ image: entry.name, min, max: Math.max(min, max) }];
      log.warn({ image }, 'sandboxes.warm_pool names an image that is not in the catalog');
      return [];
    }),
    defaults: () => ({ ...defaultsOf(config), isolation: isolation.default }),
    imageName: (name) => catalog.find(name)?.name ?? null,
    isBusy: () => boots.underWay > 0,
    isUnwanted: () => drain.isDraining || freemem() < totalmem() * SPARE_MEMORY,
    clock,
    random,
    log,
  });
}

/** Resources and network of a create request that specifies none. */
export function defaultsOf({ resources, network }: SandboxesConfig): Pick<SandboxSpec, 'resources' | 'network'> {
  return {
    resources: {
      cpuMillis: Math.round(resources.cpu * 1000),
      memoryMb: resources.memory_mb,
      diskMb: resources.disk_mb,
      pids: resources.pids,
    },
    network,
  };
}

export function observeWarmPool(metrics: Metrics, pool: WarmPool): void {
  const labels = ['image'] as const;
  const ready = metrics.gauge('svc_sandbox_pool_ready', 'Warm sandboxes that are ready', labels);
  const target = metrics.gauge('svc_sandbox_pool_target', 'Target number of warm sandboxes', labels);
  const claims = metrics.counter('svc_sandbox_pool_claims_total', 'Creates by whether the warm pool served them', [
    'image',
    'outcome',
  ]);
  metrics.onScrape(() => {
    claims.reset();
    for (const figures of pool.figures()) {
      const { image } = figures;
      ready.set({ image }, figures.ready);
      target.set({ image }, figures.target);
      claims.inc({ image, outcome: 'hit' }, figures.hits);
      claims.inc({ image, outcome: 'miss' }, figures.misses);
    }
  });
}
