import { randomUUID } from 'node:crypto';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreAction } from '../../src/domain/ports/maker-rights.ts';
import { IMPLEMENTED, operations, type ImplementedOperation } from '../../src/s3/operations/index.ts';
import { operationRequests } from '../support/operation-requests.ts';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startStore, type RunningStore, type TestKey } from '../support/running-store.ts';

/** A form carries its own credentials, so `post-object.test.ts` covers its refusals. */
const TESTED = IMPLEMENTED.filter((name) => name !== 'PostObject');
const AFFECTS_BUCKETS = TESTED.filter((name) => name !== 'ListBuckets' && name !== 'CreateBucket');
const READS: ReadonlySet<StoreAction> = new Set(['bucket:list', 'bucket:read', 'object:list', 'object:read']);
const WRITES: ReadonlySet<StoreAction> = new Set(['bucket:list', 'bucket:create', 'object:write', 'object:delete']);

describe('every operation of the S3 plane', () => {
  let folder: TemporaryFolder;
  let store: RunningStore;
  let keys: Record<'admin' | 'reader' | 'writer' | 'stranger' | 'elsewhere', TestKey>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startStore(folder.path);
    const workspaceUuid = randomUUID();
    const admin = await store.createKey({ workspaceUuid });
    for (const target of ['/alpha', '/beta', '/alpha/object']) await send({ method: 'PUT', target }, admin);
    keys = {
      admin,
      reader: await store.createKey({ workspaceUuid, permissions: ['read'] }),
      writer: await store.createKey({ workspaceUuid, permissions: ['write'] }),
      elsewhere: await store.createKey({ workspaceUuid, buckets: ['beta'] }),
      stranger: await store.createKey({ workspaceUuid: randomUUID() }),
    };
  });
  afterAll(async () => {
    await store.close();
    await folder.remove();
  });

  const send = (raw: RawRequest, key: TestKey): Promise<RawAnswer> =>
    sendRaw(store.endpoint, signed(raw, { key, host: new URL(store.endpoint).host }));
  const findRequest = (name: ImplementedOperation): RawRequest => {
    const request = operationRequests.get(name);
    if (request === undefined) throw new Error(`${name} has no request`);
    return request;
  };
  /** A HEAD response has no body to carry a code. */
  const expectRefusal = (answer: RawAnswer, name: string, code: string): void => {
    expect(answer.status).toBe(403);
    if (!name.startsWith('Head')) expect(answer.code).toBe(code);
  };

  it.each(TESTED)('%s is refused without a signature', async (name) => {
    expectRefusal(await sendRaw(store.endpoint, findRequest(name)), name, 'AccessDenied');
  });

  it.each(TESTED)('%s is refused with a wrong signature', async (name) => {
    const key = { ...keys.admin, secretAccessKey: 'tsec_wrong' };
    expectRefusal(await send(findRequest(name), key), name, 'SignatureDoesNotMatch');
  });

  it.each(AFFECTS_BUCKETS)('%s is refused to another workspace', async (name) => {
    if (name === 'DeleteObjects') return; // refused per object, see below
    expectRefusal(await send(findRequest(name), keys.stranger), name, 'AccessDenied');
  });

  it.each(AFFECTS_BUCKETS)('%s is refused to a key for another bucket', async (name) => {
    expectRefusal(await send(findRequest(name), keys.elsewhere), name, 'AccessDenied');
  });

  it.each(TESTED.filter((name) => !READS.has(findNeededAction(name))))(
    '%s is refused to a key that may only read',
    async (name) => {
      expectRefusal(await send(findRequest(name), keys.reader), name, 'AccessDenied');
    },
  );

  it.each(TESTED.filter((name) => !WRITES.has(findNeededAction(name))))(
    '%s is refused to a key that may only write',
    async (name) => {
      expectRefusal(await send(findRequest(name), keys.writer), name, 'AccessDenied');
    },
  );

  it('hides from another workspace which objects exist', async () => {
    for (const query of ['', '?tagging', '?acl', '?retention', '?legal-hold', '?versionId=null']) {
      const [there, absent] = [
        await send({ target: `/alpha/object${query}` }, keys.stranger),
        await send({ target: `/alpha/absent${query}` }, keys.stranger),
      ];
      expect([there.status, there.code]).toEqual([403, 'AccessDenied']);
      expect([absent.status, absent.code]).toEqual([403, 'AccessDenied']);
    }
  });

  it('refuses a list of deletes from another workspace, object by object', async () => {
    const body = '<Delete><Object><Key>object</Key></Object></Delete>';
    const answer = await send({ method: 'POST', target: '/alpha?delete', body }, keys.stranger);
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toContain('<Code>AccessDenied</Code>');
    expect((await send({ target: '/alpha/object' }, keys.admin)).status).toBe(200);
  });
});

function findNeededAction(name: ImplementedOperation): StoreAction {
  const found = operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`${name} is not declared`);
  return found.needs;
}
