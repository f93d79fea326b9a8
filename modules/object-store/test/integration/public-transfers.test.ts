import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import type { TestKey } from '../support/running-store.ts';

/** More than the sockets of both sides buffer, so that a client that does not read holds it up. */
const LARGE_BYTES = 48 * 1024 * 1024;
const CHECKED_AFTER_MS = 1_000;

describe('a running transfer that a bucket allows to strangers', () => {
  let management: RunningManagement;
  let key: TestKey;

  const sendAs = (raw: RawRequest, as: TestKey): Promise<RawAnswer> => {
    const { endpoint } = management.store;
    const nowMs = management.clock.nowMs();
    return sendRaw(endpoint, signed(raw, { key: as, host: new URL(endpoint).host, nowMs }));
  };
  const send = (raw: RawRequest): Promise<RawAnswer> => sendAs(raw, key);
  const allow = async (action: string): Promise<void> => {
    const resource = 'arn:aws:s3:::alpha/*';
    const statement = { Effect: 'Allow', Principal: '*', Action: action, Resource: resource };
    const body = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    expect((await send({ method: 'PUT', target: '/alpha?policy', body })).status).toBe(204);
  };
  const open = (method: string, path: string, headers: Record<string, string | number> = {}): ClientRequest => {
    const { hostname, port } = new URL(management.store.endpoint);
    const outgoing = httpRequest({ hostname, port, method, path, headers, agent: false });
    outgoing.on('error', () => undefined); // it is cut
    return outgoing;
  };
  /** Starts a download of a large object and reads nothing of it. */
  const download = async (): Promise<IncomingMessage> => {
    const body = Buffer.alloc(LARGE_BYTES, 'x');
    expect((await send({ method: 'PUT', target: '/alpha/large', body })).status).toBe(200);
    const outgoing = open('GET', '/alpha/large');
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    incoming.on('error', () => undefined); // it is cut
    expect(incoming.statusCode).toBe(200);
    return incoming;
  };
  /** A check takes real time, so that the clock of the test moves until the next one. */
  const allClosed = () =>
    waitFor(async () => {
      await management.clock.advance(CHECKED_AFTER_MS);
      return management.store.listener.connectionCount() === 0;
    });
  const isCut = async (incoming: IncomingMessage): Promise<boolean> => {
    incoming.resume();
    if (!incoming.closed) await new Promise<void>((resolve) => incoming.once('close', resolve)); // `once` rejects on errors
    return !incoming.complete;
  };

  beforeEach(async () => {
    management = await startManagement();
    await management.call('POST', '/buckets', { body: { name: 'alpha' } });
    const made = await management.call('POST', '/keys', { body: { permissions: ['read', 'write', 'admin'] } });
    const { accessKeyId, secretAccessKey } = made.body.data;
    key = { accessKeyId: String(accessKeyId), secretAccessKey: String(secretAccessKey) };
  });
  afterEach(() => management.close());

  it('ends when the policy is deleted: a download', async () => {
    await allow('s3:GetObject');
    const incoming = await download();
    await management.clock.advance(CHECKED_AFTER_MS);
    expect((await send({ method: 'DELETE', target: '/alpha?policy' })).status).toBe(204);
    await allClosed();
    expect(await isCut(incoming)).toBe(true);
  });

  it('ends when the policy is deleted: an upload is not stored', async () => {
    await allow('s3:PutObject');
    const outgoing = open('PUT', '/alpha/new', { 'content-length': 1_000, expect: '100-continue' });
    outgoing.flushHeaders();
    await once(outgoing, 'continue');
    outgoing.write('half');
    expect((await send({ method: 'DELETE', target: '/alpha?policy' })).status).toBe(204);
    await allClosed();
    expect((await send({ target: '/alpha/new' })).code).toBe('NoSuchKey');
  });

  it('goes on while the bucket allows it, also after its object was deleted', async () => {
    await allow('s3:GetObject');
    const incoming = await download();
    expect((await send({ method: 'DELETE', target: '/alpha/large' })).status).toBe(204);
    await management.clock.advance(CHECKED_AFTER_MS);
    await management.clock.advance(CHECKED_AFTER_MS);
    expect(await isCut(incoming)).toBe(false);
  });
});
