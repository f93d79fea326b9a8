import { X509Certificate } from 'node:crypto';
import { createLogger } from '@svc/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { InternalIdentity, renewInternalAuthority, type InternalIdentityDeps } from './internal-identity.ts';
import { makeCertificates } from './make-certificates.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

/** The secrets of one database, with the rules of their port. */
function memorySecrets(): InternalIdentityDeps['secrets'] & { content: Buffer | null } {
  let version = 0;
  const secrets = {
    content: null as Buffer | null,
    find: async () => secrets.content,
    ensure: async (_name: string, create: () => Promise<Uint8Array>) =>
      (secrets.content ??= Buffer.from(await create())),
    update: async (_name: string, change: (content: Buffer) => Promise<Uint8Array | null>) => {
      const seen = version;
      const changed = secrets.content === null ? null : await change(secrets.content);
      if (changed === null || seen !== version) return false;
      version += 1;
      secrets.content = Buffer.from(changed);
      return true;
    },
  };
  return secrets;
}

describe('the identity of a replica', () => {
  let nowMs: number;
  let secrets: ReturnType<typeof memorySecrets>;
  beforeEach(() => {
    nowMs = Date.now();
    secrets = memorySecrets();
  });

  const open = (id: string): Promise<InternalIdentity> =>
    InternalIdentity.open({
      secrets,
      replica: { id, nowMs: () => nowMs },
      log: createLogger({ level: 'silent', name: 'test' }),
    });
  /** Whether the second replica accepts the certificate of the first one. */
  const isTrusted = ({ identity: { cert } }: InternalIdentity, { identity: { ca } }: InternalIdentity): boolean =>
    ca.some((each) => new X509Certificate(cert).verify(new X509Certificate(each).publicKey));
  const later = async (ms: number, ...replicas: InternalIdentity[]): Promise<void> => {
    nowMs += ms;
    for (const replica of replicas) await replica.refresh();
  };

  it('is accepted by the others, and changes only with the authority', async () => {
    const [a, b] = [await open('a'), await open('b')];
    expect([isTrusted(a, b), isTrusted(b, a)]).toEqual([true, true]);
    expect(a.identity.hopKey.equals(b.identity.hopKey)).toBe(true);
    const before = a.identity;
    await later(8 * YEAR_MS, a, b);
    expect(a.identity).toBe(before);
    expect(a.expiresAt.getTime() - nowMs).toBeGreaterThan(YEAR_MS);
  });

  it('is renewed a year before the authority ends: announced, then used, then alone', async () => {
    const [a, b] = [await open('a'), await open('b')];
    const changes: number[] = [];
    a.onChange(({ ca }) => changes.push(ca.length));
    const [first] = a.identity.ca;
    await later(9 * YEAR_MS + DAY_MS, a);
    expect(a.identity.ca).toHaveLength(2);
    // b has not read it yet: a goes on with the certificate that b trusts.
    expect([isTrusted(a, b), isTrusted(b, a)]).toEqual([true, true]);
    await later(0, b);
    await later(5 * MINUTE_MS, a);
    // a is faster than b.
    expect([isTrusted(a, b), isTrusted(b, a)]).toEqual([true, true]);
    expect(a.expiresAt.getTime() - nowMs).toBeGreaterThan(9 * YEAR_MS);
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      expect(other.identity.hopKeys.some((key) => key.equals(one.identity.hopKey))).toBe(true);
    }
    await later(0, b);
    await later(DAY_MS, a, b);
    expect([a.identity.ca.length, b.identity.ca.length]).toEqual([1, 1]);
    expect(a.identity.ca[0]).not.toBe(first);
    expect([isTrusted(a, b), isTrusted(b, a)]).toEqual([true, true]);
    expect(changes).toEqual([2, 2, 1]);
  });

  it('is renewed once by replicas that notice at the same time', async () => {
    const replicas = [await open('a'), await open('b'), await open('c')];
    nowMs += 9.5 * YEAR_MS;
    await Promise.all(replicas.map((replica) => replica.refresh()));
    await later(0, ...replicas);
    expect(new Set(replicas.map(({ identity }) => identity.ca.join())).size).toBe(1);
    expect(replicas[0]?.identity.ca).toHaveLength(2);
  });

  it('is renewed on request, which a second request does not repeat', async () => {
    expect(await renewInternalAuthority(secrets, nowMs)).toBeNull();
    const a = await open('a');
    const usedFrom = await renewInternalAuthority(secrets, nowMs);
    expect(usedFrom?.getTime()).toBe(nowMs + 5 * MINUTE_MS);
    nowMs += MINUTE_MS;
    expect(await renewInternalAuthority(secrets, nowMs)).toEqual(usedFrom);
    await a.refresh();
    expect(a.identity.ca).toHaveLength(2);
  });

  it('takes over the authority of a version that did not renew it', async () => {
    const now = new Date(nowMs).toISOString();
    const certificate = { uri: 'urn:svc:replica:none' };
    const { authority } = await makeCertificates({ authority: { name: 'svc replicas' }, certificate, now });
    secrets.content = Buffer.from(JSON.stringify({ authority, hopKey: 'ab'.repeat(32) }));
    const a = await open('a');
    expect(a.identity.ca).toEqual([authority.cert]);
    await renewInternalAuthority(secrets, nowMs);
    // Such a version reads these two fields only, and uses them until the new authority is used.
    expect(JSON.parse(secrets.content.toString())).toMatchObject({ authority, hopKey: 'ab'.repeat(32) });
  });
});
