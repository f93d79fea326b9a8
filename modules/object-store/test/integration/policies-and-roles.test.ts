import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BucketFolder } from '../../src/routes/folders/folder-place.ts';
import { sendRaw, signed, type RawRequest } from '../support/raw-request.ts';
import { startManagement, type Method, type RunningManagement } from '../support/running-management.ts';
import type { TestKey } from '../support/running-store.ts';

/**
 * Where the planes differ on purpose: a policy names keys, workspaces and conditions of S3, and the management API and
 * mounts have none of them. They act for the workspace itself, whose roles decide. The documents say so.
 */
describe('a bucket policy that denies everything', () => {
  let management: RunningManagement;
  let key: TestKey;
  let mounts: Server;
  let place: BucketFolder;

  beforeAll(async () => {
    management = await startManagement();
    const { store, tenantId: workspaceUuid } = management;
    await management.call('POST', '/buckets', { body: { name: 'alpha' } });
    key = await store.createKey({ workspaceUuid });
    await send({ method: 'PUT', target: '/alpha/object', body: 'x' });
    const all = ['arn:aws:s3:::alpha', 'arn:aws:s3:::alpha/*'];
    const statement = { Effect: 'Deny', Principal: '*', Action: 's3:*', Resource: all };
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    expect((await send({ method: 'PUT', target: '/alpha?policy', body: policy })).status).toBe(204);
    const bucketId = (await store.module.folders.find(workspaceUuid, 'alpha')) ?? 0;
    place = { workspaceUuid, bucketName: 'alpha', bucketId, prefix: '', readOnly: false, principalId: 'someone' };
    mounts = createServer((request, response) => void store.module.folders.serve(place, request, response));
    await new Promise<void>((resolve) => mounts.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    mounts.closeAllConnections();
    mounts.close();
    await management.close();
  });

  const send = (raw: RawRequest) => {
    const { endpoint } = management.store;
    const { host } = new URL(endpoint);
    return sendRaw(endpoint, signed(raw, { key, host, nowMs: management.clock.nowMs() }));
  };
  const call = async (method: Method, path: string, body?: Buffer): Promise<number> => {
    const headers = body === undefined ? {} : { 'content-type': 'application/octet-stream' };
    const options = { headers, ...(body === undefined ? {} : { body }) };
    return (await management.call(method, `/buckets/alpha/objects${path}`, options)).status;
  };
  const mount = async (method: string, path: string, body?: string): Promise<number> => {
    const { port } = mounts.address() as AddressInfo; // of a TCP listener
    const init = { method, ...(body === undefined ? {} : { body }) };
    return (await fetch(`http://127.0.0.1:${port}/${path}`, init)).status;
  };

  it('binds every key, whoever created it', async () => {
    for (const request of [
      { method: 'GET', target: '/alpha/object' },
      { method: 'PUT', target: '/alpha/object', body: 'y' },
      { method: 'DELETE', target: '/alpha/object' },
      { method: 'GET', target: '/alpha?list-type=2' },
    ]) {
      expect([request.method, request.target, (await send(request)).status]).toEqual([
        request.method,
        request.target,
        403,
      ]);
    }
  });

  it('binds neither the management API nor mounts, whose callers have roles', async () => {
    expect(await call('GET', '/download?key=object')).toBe(200);
    expect(await call('PUT', '/content?key=other', Buffer.from('y'))).toBe(201);
    expect(await call('GET', '')).toBe(200);
    expect(await call('DELETE', '?key=other')).toBe(200);
    expect(await mount('GET', 'stat?path=object')).toBe(200);
    expect(await mount('PUT', 'write?path=object', 'z')).toBe(200);
    expect(await mount('DELETE', 'remove?path=object&kind=file')).toBe(200);
  });
});
