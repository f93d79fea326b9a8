import { describeRequiring } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunningPlatform } from '../system/running-platform.ts';
import { createReplicas, type Replicas } from './replicas.ts';

const PASSWORD = 'a password of the owner';

describeRequiring(['postgres'], 'sign-ins at two replicas', () => {
  let replicas: Replicas;
  let platforms: RunningPlatform[];
  beforeEach(async () => {
    replicas = await createReplicas('["clusters"]');
    const environment = {
      SVC_OWNER_PASSWORD: PASSWORD,
      // Six guesses, then one in a minute: no request of the test is late enough for another one.
      SVC_ACCOUNTS_THROTTLE_ACCOUNT_BURST: '6',
      SVC_ACCOUNTS_THROTTLE_ACCOUNT_PER_MINUTE: '1',
      SVC_ACCOUNTS_THROTTLE_FREE_FAILURES: '100',
    };
    platforms = [await replicas.start({ name: 'a', environment }), await replicas.start({ name: 'b', environment })];
  });
  afterEach(() => replicas[Symbol.asyncDispose]());

  const signIn = async (platform: RunningPlatform | undefined, password: string): Promise<number> => {
    const response = await fetch(`${platform?.ready.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'owner@localhost', password }),
    });
    await response.arrayBuffer();
    return response.status;
  };

  it('are counted together', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) statuses.push(await signIn(platforms[count % 2], `guess ${count}`));
    expect(statuses).toEqual([...Array.from({ length: 6 }, () => 401), ...Array.from({ length: 6 }, () => 429)]);
    for (const platform of platforms) expect(await signIn(platform, PASSWORD)).toBe(429);
  });

  it('are limited by address in equal parts', async () => {
    const limitAt = async (platform: RunningPlatform): Promise<string | null> => {
      const url = `${platform.ready.url}/api/auth/password/link`;
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: '{}' });
      await answer.arrayBuffer();
      return answer.headers.get('x-ratelimit-limit');
    };
    for (const platform of platforms) await expect.poll(() => limitAt(platform), { timeout: 10_000 }).toBe('15');
  });
});
