import { createSecretKey, randomBytes } from 'node:crypto';
import { createLocalKeyWrapper } from '@svc/keys';
import { systemClock } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { KeyRotation } from '../../src/domain/key-rotation/key-rotation.ts';
import { readKeyUsage } from '../../src/domain/key-rotation/key-usage.ts';
import { rewrapKeys } from '../../src/domain/key-rotation/rewrap-keys.ts';
import { ringContext } from '../../src/domain/encryption/key-envelope.ts';
import type { MetadataStore } from '../../src/domain/ports/metadata-store.ts';
import type { ObjectEncryption } from '../../src/domain/ports/records.ts';
import { KeyRing } from '../../src/domain/secrets/key-ring.ts';
import { SecretBox } from '../../src/domain/secrets/secret-box.ts';
import { metadataBench, tenantLimits, type OpenMetadata } from '../support/metadata-bench.ts';

const log = createLogger({ level: 'silent', name: 'test' });
const signal = new AbortController().signal;

/** Contract for the key ring and its rotation, run against every metadata store. */
export function describeKeyRotation(open: OpenMetadata): void {
  describe('the key ring and its rotation', () => {
    const master = createSecretKey(randomBytes(32));
    const wrapper = createLocalKeyWrapper({
      loadMasterKeys: async () => ({ current: master, others: [] }),
      random: randomBytes,
    });
    const bench = metadataBench(open);
    let store: MetadataStore;
    let nowMs = Date.now();
    const clock = { ...systemClock, nowMs: () => nowMs };
    beforeEach(() => {
      ({ store } = bench);
    });

    const legacy = new SecretBox(master, randomBytes);
    /** A separate key ring over the same store, as on another replica. */
    const newRing = () =>
      new KeyRing({ metadata: store, wrapper, legacy, cacheMs: 3_600_000, random: randomBytes, clock });
    const createRotation = (ring: KeyRing, metadata = store, holder = 'one') =>
      new KeyRotation({ metadata, secrets: ring, holder, log, clock });
    const seal = async (ring: KeyRing, secret: string): Promise<ObjectEncryption> => ({
      mode: 'sse-s3',
      sealedKey: await ring.seal(secret, ringContext({ mode: 'sse-s3' })),
    });
    const put = (key: string, encryption: ObjectEncryption) =>
      bench.put(key, { kind: 'empty' }, { attributes: { contentType: 'text/plain', encryption } });
    const opened = async (ring: KeyRing, key: string): Promise<string> => {
      const encryption = (await store.findObject({ bucketId: bench.bucket.id, key }))?.version.attributes.encryption;
      return await ring.open(encryption?.sealedKey ?? '', ringContext({ mode: 'sse-s3' }));
    };
    const finish = async (rotation: KeyRotation): Promise<void> => {
      while ((await store.storeKeys({})).length > 1) await rotation.round(signal);
    };

    it('creates one first key when several replicas start at once', async () => {
      const rings = [newRing(), newRing(), newRing()];
      const sealed = await Promise.all(rings.map((ring, index) => ring.seal(`secret ${index}`, 'here')));
      expect(await store.storeKeys({})).toHaveLength(1);
      const opened = await Promise.all(sealed.map((each) => newRing().open(each, 'here')));
      expect(opened).toEqual(['secret 0', 'secret 1', 'secret 2']);
      await expect(newRing().open(sealed[0] ?? '', 'elsewhere')).rejects.toMatchObject({ code: 'MasterKeyInvalid' });
    });

    it('reseals everything, even secrets older than the ring, then removes the old key', async () => {
      const ring = newRing();
      const { bucket } = bench;
      for (let index = 0; index < 250; index += 1) await put(`k${index}`, await seal(ring, `data key ${index}`));
      const before = {
        mode: 'sse-s3' as const,
        sealedKey: legacy.seal('from before', ringContext({ mode: 'sse-s3' })),
      };
      await put('legacy', before);
      const customers = { mode: 'sse-c' as const, sealedKey: 'AAAA' };
      await put('customer', customers);
      await store.createAccessKey({ key: await accessKey(ring, bucket.workspaceUuid), maxKeys: 10 });
      const target = await ring.addKey();
      const stale = newRing();
      await finish(createRotation(ring));
      expect((await store.storeKeys({})).map(({ id }) => id)).toEqual([target]);
      for (const each of [ring, stale]) {
        expect(await opened(each, 'k0')).toBe('data key 0');
        expect(await opened(each, 'k249')).toBe('data key 249');
        expect(await opened(each, 'legacy')).toBe('from before');
      }
      expect((await store.findObject({ bucketId: bucket.id, key: 'customer' }))?.version.attributes.encryption).toEqual(
        customers,
      );
      const usage = await readKeyUsage(store);
      expect(usage.map(({ id, rows }) => [id, rows.object, rows['access-key']])).toEqual([[target, 251, 1]]);
      expect(target).toBe(2);
    });

    it('reseals secrets that the master key sealed before the ring had a key', async () => {
      const context = ringContext({ mode: 'sse-s3' });
      await put('legacy', { mode: 'sse-s3', sealedKey: legacy.seal('from before', context) });
      const ring = newRing();
      const target = await ring.addKey();
      expect((await store.storeKeys({})).map(({ id }) => id)).toEqual([1, 2]);
      await finish(createRotation(ring));
      expect((await readKeyUsage(store)).map(({ id, rows }) => [id, rows.object])).toEqual([[target, 1]]);
      expect(await opened(newRing(), 'legacy')).toBe('from before');
    });

    it('rejects every write of a secret sealed under a key that was closed meanwhile', async () => {
      const stale = newRing();
      const { bucket } = bench;
      const encryption = await seal(stale, 'late');
      const key = await accessKey(stale, bucket.workspaceUuid);
      const ring = newRing();
      const target = await ring.addKey();
      await store.closeStoreKeys({ below: target });
      const closed = { code: 'KeyClosed' };
      await expect(put('late', encryption)).rejects.toMatchObject(closed);
      await expect(store.createAccessKey({ key, maxKeys: 10 })).rejects.toMatchObject(closed);
      const account = { directoryUrl: `https://acme.test/${target}`, sealedKey: encryption.sealedKey };
      await expect(store.saveAcmeAccount(account)).rejects.toMatchObject(closed);
      const document = JSON.stringify({ rules: [], secret: encryption.sealedKey });
      const change = { bucketId: bucket.id, name: 'notification' as const, document, nowMs };
      await expect(store.putBucketDocument(change)).rejects.toMatchObject(closed);
      nowMs += 10_000; // the other replica has seen the new key by now
      await put('late', await seal(stale, 'late'));
      await finish(createRotation(ring));
      expect(await opened(ring, 'late')).toBe('late');
    });

    it('resumes after a crash at any step and seals nothing twice', async () => {
      const ring = newRing();
      for (let index = 0; index < 120; index += 1) await put(`c${index}`, await seal(ring, `data key ${index}`));
      const target = await ring.addKey();
      for (let steps = 1; (await store.storeKeys({})).length > 1; steps += 1) {
        let left = steps % 7;
        const dying: MetadataStore = {
          ...store,
          setStoreProperty: async (input) => {
            left -= 1;
            if (left < 0) throw new Error('killed');
            await store.setStoreProperty(input);
          },
        };
        const holder = `step ${steps}`;
        await createRotation(newRing(), dying, holder)
          .round(signal)
          .catch(() => undefined);
        expect(steps).toBeLessThan(200);
      }
      for (let index = 0; index < 120; index += 1) {
        expect(await opened(ring, `c${index}`)).toBe(`data key ${index}`);
      }
      expect((await store.storeKeys({})).map(({ id }) => id)).toEqual([target]);
    });

    it('keeps an old key as long as a fork has copied a data key behind the rotation', async () => {
      const ring = newRing();
      await put('k', await seal(ring, 'data key'));
      const target = await ring.addKey();
      await store.closeStoreKeys({ below: target });
      const { workspaceUuid, id: sourceId } = bench.bucket;
      const tenant = tenantLimits(workspaceUuid, {});
      const fork = await store.forkBucket({ id: 1, name: 'fork', workspaceUuid, sourceId, nowMs, tenant });
      expect(await store.copyToFork({ bucketId: fork.id, workspaceUuid, limit: 100, nowMs })).toBe(true);
      expect(await store.removeStoreKeys({ below: target })).toBe(false);
      expect(await store.storeKeys({})).toHaveLength(2);
      await finish(createRotation(ring));
      const { encryption } = (await store.findObject({ bucketId: fork.id, key: 'k' }))?.version.attributes ?? {};
      expect(await newRing().open(encryption?.sealedKey ?? '', ringContext({ mode: 'sse-s3' }))).toBe('data key');
    });

    it('keeps concurrent changes to the same rows', async () => {
      const ring = newRing();
      const { bucket } = bench;
      for (let index = 0; index < 60; index += 1) await put(`t${index}`, await seal(ring, `data key ${index}`));
      await ring.addKey();
      const tagging = async (): Promise<void> => {
        for (let index = 0; index < 60; index += 1) {
          const changes = { tags: { number: String(index) } };
          await store.changeAttributes({ bucketId: bucket.id, key: `t${index}`, changes });
        }
      };
      await Promise.all([tagging(), finish(createRotation(ring))]);
      for (let index = 0; index < 60; index += 1) {
        const found = await store.findObject({ bucketId: bucket.id, key: `t${index}` });
        expect(found?.version.attributes.tags).toEqual({ number: String(index) });
        expect(await opened(ring, `t${index}`)).toBe(`data key ${index}`);
      }
    });

    it('rewraps its keys under another master key, and back', async () => {
      const ring = newRing();
      const sealed = await ring.seal('secret', 'here');
      const fresh = createSecretKey(randomBytes(32));
      const keys = { current: fresh, others: [master] };
      const rewrapping = createLocalKeyWrapper({ loadMasterKeys: async () => keys, random: randomBytes });
      await rewrapKeys(store, rewrapping);
      expect(new Set((await store.storeKeys({})).map(({ wrapper: by }) => by))).toEqual(
        new Set([await rewrapping.id()]),
      );
      await expect(newRing().open(sealed, 'here')).rejects.toMatchObject({ code: 'KEY_NOT_OPENED' });
      await rewrapKeys(
        store,
        createLocalKeyWrapper({
          loadMasterKeys: async () => ({ current: master, others: [fresh] }),
          random: randomBytes,
        }),
      );
      expect(await newRing().open(sealed, 'here')).toBe('secret');
    });
  });
}

async function accessKey(ring: KeyRing, workspaceUuid: string) {
  const accessKeyId = `tid_${randomBytes(6).toString('hex')}`;
  return {
    accessKeyId,
    workspaceUuid,
    label: 'test',
    permissions: ['read' as const],
    buckets: null,
    sealedSecret: await ring.seal('secret', accessKeyId),
    createdAtMs: 1,
    createdBy: { principalId: 'test', tokenId: null, kind: 'user' as const, name: 'test' },
    expiresAtMs: null,
    lastUsedAtMs: null,
  };
}
