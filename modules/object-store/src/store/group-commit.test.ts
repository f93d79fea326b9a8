import { describe, expect, it } from 'vitest';
import { GroupCommit, type BatchRunner } from './group-commit.ts';
import type { Command } from './outcome.ts';

/** Commits whose end the test controls. */
function createCommits(maxBatch: number, maxBatchBytes = 1_000_000) {
  const batches: string[][] = [];
  let finish: () => void = () => undefined;
  const run: BatchRunner = async (commands) => {
    batches.push(commands.map(({ name }) => name));
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return commands.map(({ name }) => ({ kind: 'done', value: name }));
  };
  const limits = { maxQueued: 20, maxQueuedPerTenant: 10, maxQueuedPerShare: 12, maxBatch, maxBatchBytes };
  const commits = new GroupCommit(run, (tenant) => tenant.slice(0, 1), limits);
  const submit = (tenant: string, name: string, weightBytes = 256): Promise<unknown> => {
    const command: Command = { name, input: {} };
    return commits.submit(command, weightBytes, tenant);
  };
  const next = async (): Promise<void> => {
    finish();
    await new Promise(setImmediate);
  };
  return { batches, commits, submit, next };
}

describe('GroupCommit', () => {
  it('includes another tenant’s command in the next batch, however large a burst is', async () => {
    const { batches, commits, submit, next } = createCommits(4);
    const all = [submit('a', 'first')];
    await next();
    for (let index = 0; index < 10; index += 1) all.push(submit('a', `a${index}`, 64 * 1024));
    all.push(submit('b', 'b0'));
    for (let count = 0; count < 4; count += 1) await next();
    expect(batches[1]).toContain('b0');
    expect(batches.flat().filter((name) => name.startsWith('a'))).toEqual(
      Array.from({ length: 10 }, (_, index) => `a${index}`),
    );
    expect(await Promise.all(all)).toHaveLength(12);
    await commits.close();
  });

  it('throws SlowDown for a tenant with too many waiting commands, and accepts other tenants', async () => {
    const { commits, submit, next } = createCommits(100);
    const all = [submit('a', 'first')];
    await next();
    for (let index = 0; index < 10; index += 1) all.push(submit('a', `a${index}`));
    await expect(submit('a', 'too many')).rejects.toMatchObject({ code: 'SlowDown' });
    all.push(submit('b', 'b0'));
    await next();
    await next();
    expect(await Promise.all(all)).toHaveLength(12);
    await commits.close();
  });

  it('treats the tenants of one owner as one', async () => {
    const { batches, commits, submit, next } = createCommits(4);
    const all = [submit('a1', 'first')];
    await next();
    for (let index = 0; index < 12; index += 1) all.push(submit(`a${index % 6}`, `a${index}`, 64 * 1024));
    await expect(submit('a7', 'too many')).rejects.toMatchObject({ code: 'SlowDown' });
    for (let index = 0; index < 4; index += 1) all.push(submit('b1', `b${index}`, 64 * 1024));
    for (let count = 0; count < 6; count += 1) await next();
    expect(batches[1]?.filter((name) => name.startsWith('b'))).toHaveLength(2);
    expect(await Promise.all(all)).toHaveLength(17);
    await commits.close();
  });

  it('ends a batch with the command that fills it', async () => {
    const { batches, commits, submit, next } = createCommits(100, 1_000);
    const all = [submit('a', 'first')];
    await next();
    for (let index = 0; index < 4; index += 1) all.push(submit('a', `a${index}`, 600));
    for (let count = 0; count < 3; count += 1) await next();
    expect(batches).toEqual([['first'], ['a0', 'a1'], ['a2', 'a3']]);
    await Promise.all(all);
    await commits.close();
  });
});
