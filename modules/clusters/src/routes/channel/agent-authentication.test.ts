import { fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import type { UpgradeRequest } from '@svc/http';
import { createAgentAuthentication } from './agent-authentication.ts';

/** Above the number of failures that one client may have in a minute. */
const ATTEMPTS = 121;

it('counts wrong tokens per client, which has a whole /64 of IPv6', async () => {
  const authenticate = createAgentAuthentication({
    clusters: { findByToken: async () => undefined } as never, // no token is right
    clock: fakeClock(),
    connectsPerMinute: 1000,
  });
  const attempt = async (remoteAddress: string): Promise<number> => {
    const request = { headers: { authorization: 'Bearer svc_agt_wrong' } };
    const upgrade = { request, client: { remoteAddress, isSecure: true } } as unknown as UpgradeRequest; // what it reads
    return authenticate(upgrade).then(
      () => 101,
      (error: { status: number }) => error.status,
    );
  };
  for (let count = 1; count < ATTEMPTS; count += 1) {
    expect(await attempt(`2001:db8::${count.toString(16)}`)).toBe(401);
  }
  expect(await attempt('2001:db8::ffff')).toBe(429);
  expect(await attempt('2001:db8:0:1::1')).toBe(401);
});
