import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@svc/runtime';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { combineKeyWrappers, createVaultTransitKeyWrapper, tokenFromFile, type KeyWrapper } from '@svc/keys';
import { describeKeyWrapper } from '@svc/keys/testing/key-wrapper-contract';
import { startClientStore } from '@svc/object-store/testing/client-store';
import { catchRefusal } from '@svc/object-store/testing/s3-client';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startVault, type VaultServer } from './server.ts';

describeRequiring(['linux', 'go'], 'the transit engine of a real Vault', () => {
  let vault: VaultServer;
  let folder = '';
  let tokenFile = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-vault-'));
    tokenFile = join(folder, 'token');
    vault = await startVault();
    await writeFile(tokenFile, `${vault.token}\n`, { mode: 0o600 });
  }, 20 * 60_000);
  afterAll(async () => {
    await vault.close();
    await rm(folder, { recursive: true });
  });
  const wrapperAt = (address: string): KeyWrapper =>
    createVaultTransitKeyWrapper({
      address,
      mount: 'transit',
      key: vault.key,
      timeoutMs: 5_000,
      token: tokenFromFile(tokenFile),
    });
  const unavailable = { code: 'KEY_SERVICE_UNAVAILABLE', status: 503, headers: { 'retry-after': '5' } };

  describeKeyWrapper('vault-transit', () => wrapperAt(vault.address));
  describeKeyWrapper('vault-transit among others', () => combineKeyWrappers(wrapperAt(vault.address), []));

  it('unwraps keys wrapped by an older key version', async () => {
    const wrapper = wrapperAt(vault.address);
    const wrapped = await wrapper.wrap(Buffer.alloc(32, 1), 'a key');
    await vault.rotate();
    expect(wrapped.text).toMatch(/^vault:v1:/);
    expect((await wrapper.unwrap(wrapped, 'a key')).equals(Buffer.alloc(32, 1))).toBe(true);
    expect((await wrapper.wrap(Buffer.alloc(32, 1), 'a key')).text).toMatch(/^vault:v2:/);
  });

  it('reports when it is sealed, unreachable or rejects the token, and never reveals the token', async () => {
    const wrapper = wrapperAt(vault.address);
    const wrapped = await wrapper.wrap(Buffer.alloc(32, 1), 'a key');
    await vault.seal();
    await expect(wrapper.unwrap(wrapped, 'a key')).rejects.toMatchObject(unavailable);
    await vault.unseal();
    expect((await wrapper.unwrap(wrapped, 'a key')).length).toBe(32);
    await expect(wrapperAt('http://127.0.0.1:1').unwrap(wrapped, 'a key')).rejects.toMatchObject(unavailable);
    await vault.revokeToken();
    const refused: unknown = await wrapper.unwrap(wrapped, 'a key').catch((error: unknown) => error);
    expect(refused).toMatchObject({ ...unavailable, message: expect.stringContaining('token is refused') as string });
    expect(JSON.stringify(refused, Object.getOwnPropertyNames(refused))).not.toContain(vault.token);
    await writeFile(tokenFile, await vault.newToken(), { mode: 0o600 });
    expect((await wrapper.unwrap(wrapped, 'a key')).length).toBe(32);
  });

  it('makes an S3 store answer 503 while it is down, with everything readable when it is back', async () => {
    let nowMs = Date.now();
    const store = await startClientStore({
      bucket: 'sealed',
      keyWrapper: wrapperAt(vault.address),
      clock: { ...systemClock, nowMs: () => nowMs },
      config: { key_service: { kind: 'local', cache_seconds: 600, vault: { mount: '', key: '', timeout_seconds: 5 } } },
    });
    try {
      const { client } = store;
      const Bucket = 'sealed';
      const put = (Key: string) => client.send(new PutObjectCommand({ Bucket, Key, Body: `body of ${Key}` }));
      const get = async (Key: string) =>
        await (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
      expect((await put('before')).ServerSideEncryption).toBe('AES256');
      expect((await store.metadata.storeKeys({}))[0]?.wrapper).toBe(`vault-transit:transit/${vault.key}`);

      await vault.seal();
      nowMs += 500_000; // the key is still cached
      expect(await get('before')).toBe('body of before');
      await put('during');
      nowMs += 200_000; // it has expired
      const away = { code: 'KeyServiceUnavailable', status: 503 };
      expect(await catchRefusal(get('before'))).toEqual(away);
      expect(await catchRefusal(put('refused'))).toEqual(away);
      const raw = await client.send(new GetObjectCommand({ Bucket, Key: 'before' })).catch((error: unknown) => error);
      expect(raw).toMatchObject({ $retryable: undefined, $metadata: { httpStatusCode: 503 } });

      await vault.unseal();
      expect(await get('before')).toBe('body of before');
      expect(await get('during')).toBe('body of during');
      expect((await catchRefusal(get('refused'))).code).toBe('NoSuchKey');
      await store.keyRing.addKey();
      await put('after');
      await store.module.maintain();
      expect((await store.metadata.storeKeys({})).length).toBe(1);
      for (const name of ['before', 'during', 'after']) expect(await get(name)).toBe(`body of ${name}`);
    } finally {
      await store.close();
    }
  });
});
