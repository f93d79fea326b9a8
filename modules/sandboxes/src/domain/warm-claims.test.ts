import { KeyedQueue } from '@svc/runtime';
import { expect, it } from 'vitest';
import type { Boots } from './boots.ts';
import type { SandboxContext } from './context.ts';
import type { Sandbox } from './sandbox.ts';
import { WarmClaims, type WarmClaim } from './warm-claims.ts';
import type { WarmPool } from './warm-pool.ts';

const sandbox = { id: 'sbx-1' } as Sandbox; // what is read of it
const prepared: WarmClaim = { sandbox, warm: null, isPrepared: true };
const unused = {} as Boots & WarmPool; // giving up uses neither

function claimsWith(find: () => Promise<Sandbox | null>): { claims: WarmClaims; removed: string[] } {
  const removed: string[] = [];
  const context = {
    repository: { find },
    queue: new KeyedQueue(),
    driver: { remove: async (id: string) => void removed.push(id) },
  } as unknown as SandboxContext; // what a sweep uses
  return { claims: new WarmClaims(context, unused, unused), removed };
}

it('removes a sandbox that was given up and has no record, once the database answers', async () => {
  const answers: (() => Promise<null>)[] = [() => Promise.reject(new Error('the database is away')), async () => null];
  const { claims, removed } = claimsWith(async () => (await answers.shift()?.()) ?? null);
  claims.abandon(prepared);
  await expect(claims.sweep()).rejects.toThrow('away');
  await claims.sweep();
  await claims.sweep();
  expect(removed).toEqual([sandbox.id]);
});

it('keeps a sandbox that was given up if its record exists', async () => {
  const { claims, removed } = claimsWith(async () => sandbox);
  claims.abandon(prepared);
  await claims.sweep();
  expect(removed).toEqual([]);
});

it('has nothing to remove of a sandbox that was not prepared', async () => {
  const { claims, removed } = claimsWith(async () => null);
  claims.abandon({ ...prepared, isPrepared: false });
  await claims.sweep();
  expect(removed).toEqual([]);
});
