import { describe, expect, it } from 'vitest';
import { runInLanes } from './lanes.ts';
import type { SelectedPart } from './select.ts';

const select = (name: string, sharesMachine: boolean): SelectedPart => ({
  part: {
    name,
    group: 'default',
    description: '',
    timeoutMs: 1,
    sharesMachine,
    run: async () => ({ results: [], output: '' }),
  },
  filter: {},
});
const parts = [
  select('lint', false),
  select('unit', false),
  select('system', true),
  select('browser', true),
  select('client', true),
  select('docker', true),
  select('law', false),
];

/** Records starts and ends; parts end when their turn comes in `order`. */
function recorder(order: readonly string[]) {
  const log: string[] = [];
  const ends = new Map(order.map((name) => [name, Promise.withResolvers<void>()]));
  const run = async ({ part }: SelectedPart): Promise<string> => {
    log.push(`+${part.name}`);
    await ends.get(part.name)?.promise;
    log.push(`-${part.name}`);
    return part.name;
  };
  return { log, run, end: (name: string) => ends.get(name)?.resolve() };
}

describe('runInLanes', () => {
  it('runs parts that share the machine three at a time, and every other alone', async () => {
    const { log, run, end } = recorder(['system', 'browser', 'client']);
    const finished = runInLanes(parts, new AbortController().signal, run);
    await expect.poll(() => log).toEqual(['+lint', '-lint', '+unit', '-unit', '+system', '+browser', '+client']);
    end('browser');
    await expect.poll(() => log.slice(7)).toEqual(['-browser', '+docker', '-docker']);
    end('client');
    end('system');
    expect(await finished).toEqual(['lint', 'unit', 'system', 'browser', 'client', 'docker', 'law']);
    expect(log.slice(10)).toEqual(['-client', '-system', '+law', '-law']);
  });

  it('starts no part after an abort, and keeps what has finished', async () => {
    const stop = new AbortController();
    const { log, run, end } = recorder(['system', 'browser', 'client']);
    const finished = runInLanes(parts, stop.signal, run);
    await expect.poll(() => log).toContain('+client');
    stop.abort();
    end('client');
    end('browser');
    end('system');
    expect(await finished).toEqual(['lint', 'unit', 'system', 'browser', 'client']);
    expect(log).not.toContain('+docker');
  });
});
