/** Generates tenant A's load in a separate process until the parent stops it, then reports the amount of work. */
import { setPriority } from 'node:os';
import type { Tenant } from './tenant.ts';
import { createWork, HEAVY, type WorkName } from './work.ts';

interface Order {
  readonly tenant: Tenant;
  readonly names: readonly WorkName[];
  readonly image: string;
}

// In production, A's clients run on other machines: B should wait for the platform, not for them.
setPriority(10);

const ending = new AbortController();
let done = 0;
let refused = 0;

async function load({ tenant, names, image }: Order): Promise<void> {
  const works = names.map((name) => ({ work: createWork(name, tenant, { ...HEAVY[name], image }), ...HEAVY[name] }));
  const lanes = works.flatMap(({ work, lanes: count }) => Array.from({ length: count }, (_, lane) => ({ work, lane })));
  process.send?.('ready');
  await Promise.all(
    lanes.map(async ({ work, lane }) => {
      while (!ending.signal.aborted) {
        try {
          await work.run(lane);
          done += 1;
        } catch (error) {
          if (refused === 0) process.stderr.write(`A: ${String(error)}\n`);
          refused += 1;
        }
        await work.settle();
      }
    }),
  );
  for (const { work } of works) await work.close();
}

process.on('message', (message: Order | 'end') => {
  if (message === 'end') {
    ending.abort();
    return;
  }
  void load(message).then(() => process.send?.({ done, refused }, () => process.exit(0)));
});
