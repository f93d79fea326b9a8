import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Tenant } from './tenant.ts';
import { createWork, LIGHT, type WorkName } from './work.ts';

const HEAVY_MAIN = fileURLToPath(new URL('./heavy-main.ts', import.meta.url));
/** Time for the load to build up before measuring. */
const WARM_UP_MS = 1_500;

export interface Beside {
  readonly latenciesMs: number[];
  readonly doneByA: number;
}

/** Returns the latencies of B's steady load. */
export async function measureLight(
  name: WorkName,
  tenant: Tenant,
  image: string,
  milliseconds: number,
): Promise<number[]> {
  const { everyMs, ...size } = LIGHT[name];
  const work = createWork(name, tenant, { ...size, image });
  const latenciesMs: number[] = [];
  try {
    await work.run(0);
    await work.settle();
    const endsAt = performance.now() + milliseconds;
    while (performance.now() < endsAt) {
      const sentAt = performance.now();
      await work.run(0);
      const latencyMs = performance.now() - sentAt;
      latenciesMs.push(latencyMs);
      await work.settle();
      await sleep(Math.max(1, everyMs - latencyMs));
    }
  } finally {
    await work.close();
  }
  return latenciesMs;
}

/** Returns the same while A applies full load of these kinds. */
export async function measureBeside(
  name: WorkName,
  tenants: { a: Tenant; b: Tenant },
  heavy: readonly WorkName[],
  image: string,
  milliseconds: number,
): Promise<Beside> {
  const child = fork(HEAVY_MAIN, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  try {
    const ready = once(child, 'message');
    child.send({ tenant: tenants.a, names: heavy, image });
    await ready;
    await sleep(WARM_UP_MS);
    const latenciesMs = await measureLight(name, tenants.b, image, milliseconds);
    const ended = once(child, 'message') as Promise<[{ done: number; refused: number }]>; // sent by heavy-main
    child.send('end');
    const [{ done, refused }] = await ended;
    if (refused > 0) process.stderr.write(`A was refused ${refused} times of ${done + refused}\n`);
    await exited;
    return { latenciesMs, doneByA: done };
  } finally {
    if (child.exitCode === null) child.kill();
  }
}

export function percentile(latenciesMs: readonly number[], share: number): number {
  const sorted = latenciesMs.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
