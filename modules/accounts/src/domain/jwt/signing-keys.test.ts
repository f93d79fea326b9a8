import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom } from '@svc/runtime';
import { type FakeClock, fakeClock, type TemporaryFolder, temporaryFolder } from '@svc/testing';
import { createLocalJWKSet, jwtVerify, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccessJwt } from './access-jwt.ts';
import { SigningKeyFiles } from '../../adapters/signing-key-files.ts';
import { SigningKeys } from './signing-keys.ts';

let folder: TemporaryFolder;
let clock: FakeClock;
const LIFETIME_SECONDS = 3600;

beforeEach(async () => {
  folder = await temporaryFolder();
  clock = fakeClock();
});
afterEach(() => folder.remove());

const keysFolder = () => join(folder.path, 'keys', 'jwt');
const open = () => SigningKeys.open(new SigningKeyFiles(keysFolder()), clock, LIFETIME_SECONDS);
const claims = { userId: 'u1', sessionId: 's1', kind: 'user' } as const;

describe('signing keys', () => {
  it('are created once, readable only by their owner', async () => {
    const first = await open();
    const second = await open();
    expect(second.signer().kid).toBe(first.signer().kid);
    expect((await stat(keysFolder())).mode & 0o777).toBe(0o700);
    const files = await readdir(keysFolder());
    expect(files).toEqual([`${first.signer().kid}.json`]);
    expect((await stat(join(keysFolder(), files[0] ?? ''))).mode & 0o777).toBe(0o600);
  });

  it('publish public keys that any library can use, and never the private half', async () => {
    const keys = await open();
    const jwt = new AccessJwt(keys, clock, systemRandom, 'svc');
    const { token } = await jwt.issue(claims, LIFETIME_SECONDS);
    const published = keys.published();
    expect(published.keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', x: expect.any(String) as string, kid: keys.signer().kid, alg: 'EdDSA', use: 'sig' },
    ]);
    const options = { issuer: 'svc', audience: 'svc', currentDate: clock.now() };
    const { payload } = await jwtVerify(token, createLocalJWKSet(published), options);
    expect(payload).toMatchObject({ sub: 'u1', sid: 's1' });
  });

  it('rotate: the old key verifies until its last token has expired, then it is removed', async () => {
    const keys = await open();
    const jwt = new AccessJwt(keys, clock, systemRandom, 'svc');
    const old = keys.signer().kid;
    const { token } = await jwt.issue(claims, LIFETIME_SECONDS);
    const fresh = await keys.rotate();
    expect(fresh).not.toBe(old);
    expect(keys.signer().kid).toBe(fresh);
    expect(
      keys
        .published()
        .keys.map(({ kid }) => kid)
        .sort(),
    ).toEqual([old, fresh].sort());
    expect(JSON.parse(await readFile(join(keysFolder(), `${old}.json`), 'utf8'))).toMatchObject({ d: null });
    expect(await jwt.verify(token)).toEqual(claims);
    await clock.advance(LIFETIME_SECONDS * 1000);
    expect(await jwt.verify(token)).toBeUndefined();
    await clock.advance(600_000);
    expect(keys.published().keys.map(({ kid }) => kid)).toEqual([fresh]);
    await keys.reload();
    expect(await readdir(keysFolder())).toEqual([`${fresh}.json`]);
  });

  it('rotated by another process are loaded when a token names them', async () => {
    const here = await open();
    const there = await open();
    await clock.advance(10_000);
    await there.rotate();
    const { token } = await new AccessJwt(there, clock, systemRandom, 'svc').issue(claims, LIFETIME_SECONDS);
    expect(await new AccessJwt(here, clock, systemRandom, 'svc').verify(token)).toEqual(claims);
  });

  it('report damaged files instead of skipping them', async () => {
    await mkdir(keysFolder(), { recursive: true });
    await writeFile(join(keysFolder(), 'broken.json'), '{"kid":"broken"}');
    await expect(open()).rejects.toThrow('broken.json is damaged');
  });
});

describe('access tokens', () => {
  it('are refused for another type, issuer, audience, key or algorithm', async () => {
    const keys = await open();
    const jwt = new AccessJwt(keys, clock, systemRandom, 'svc');
    const { kid, key } = keys.signer();
    const build = (header: Record<string, string>, changes: Record<string, unknown> = {}) =>
      new SignJWT({ iss: 'svc', aud: 'svc', sub: 'u1', sid: 's1', kind: 'user', ...changes })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header })
        .setIssuedAt(clock.now())
        .setExpirationTime(new Date(clock.nowMs() + 1000));
    expect(await jwt.verify(await build({}).sign(key))).toEqual(claims);
    const wrong = [
      await build({ typ: 'JWT' }).sign(key),
      await build({ kid: 'unknown' }).sign(key),
      await build({}, { iss: 'other' }).sign(key),
      await build({}, { aud: 'other' }).sign(key),
      await build({}, { kind: 'operator' }).sign(key),
      await build({ alg: 'HS256' }).sign(Buffer.from(keys.published().keys[0]?.x ?? '', 'base64url')),
    ];
    for (const token of wrong) expect(await jwt.verify(token)).toBeUndefined();
  });
});
