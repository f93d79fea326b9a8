import { once } from 'node:events';
import { request as sendPlain, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as sendSecure, type RequestOptions } from 'node:https';
import { json } from 'node:stream/consumers';
import { createGrantedAccess } from '@svc/access';
import type { Forwarded } from '@svc/http';
import { createTestAuthority, type FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOP_HEADER, HopSignature } from './hop.ts';
import { replicaUri } from './peer-identity.ts';
import { createInstallation, startReplica, type Installation, type TestReplica } from './testing/replica-pair.ts';

let installation: Installation;
let target: TestReplica;
let caller: FakeCaller;
let certificate: { cert: string; key: string };

beforeEach(async () => {
  installation = await createInstallation();
  caller = installation.access.user('owner');
  target = await startReplica('target', installation);
  certificate = await installation.authority.issue(replicaUri('sender'));
});

afterEach(() => target.close());

interface Sent {
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly tls?: RequestOptions;
}

/** Sends a request to the internal listener as the replica `sender`. */
async function send({ path = '/things/1', headers = {}, tls = certificate }: Sent): Promise<unknown> {
  const { hostname, port } = new URL(target.peer.url);
  const outgoing = sendSecure({
    hostname,
    port,
    path,
    ca: installation.authority.ca,
    agent: false,
    checkServerIdentity: () => undefined,
    ...tls,
    headers: { ...caller.headers, ...headers },
  }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return [response.statusCode, await json(response)];
}

interface Stated extends Partial<Omit<Forwarded, 'requestId'>> {
  readonly path?: string;
  readonly from?: string;
  readonly to?: string;
  readonly ageMs?: number;
}

/** The hop that `sender` would sign for a request to `/things/1`, with changes. */
async function hop({ path = '/things/1', from = 'sender', to = 'target', ageMs = 0, ...changed }: Stated = {}) {
  const { access, hopKey } = installation;
  const grant = await access.authorize({ principal: caller.principal, action: 'thing:read' });
  const signature = new HopSignature({
    keys: () => ({ hopKey, hopKeys: [hopKey] }),
    self: from,
    nowMs: () => Date.now() - ageMs,
  });
  const { host } = new URL(target.peer.url);
  const value = signature.sign({ method: 'GET', url: path, headers: { host } }, to, {
    owned: { kind: 'thing', id: '1', workspaceUuid: grant.workspaceUuid },
    granted: createGrantedAccess(caller.principal, new Date(), 'thing:read', grant),
    client: { remoteAddress: '192.0.2.1', isSecure: true },
    ...changed,
  });
  return { [HOP_HEADER]: value };
}

const refusal = (reason: string) => [403, expect.objectContaining({ code: 'HOP_REFUSED', details: { reason } })];

describe('the internal listener', () => {
  it('serves what a replica forwards, with the client that it states', async () => {
    const [status, body] = (await send({ headers: await hop() })) as [number, object];
    expect([status, body]).toEqual([200, expect.objectContaining({ servedBy: 'target', remote: '192.0.2.1' })]);
  });

  it('ends the handshake without a certificate, and with one of another authority', async () => {
    await expect(send({ tls: {}, headers: await hop() })).rejects.toThrow();
    const other = await (await createTestAuthority()).issue(replicaUri('sender'));
    await expect(send({ tls: other, headers: await hop() })).rejects.toThrow();
  });

  it('refuses a replica without a hop header', async () => {
    expect(await send({})).toEqual(refusal('it has no hop header'));
    expect(await send({ path: '/things' })).toEqual(refusal('it has no hop header'));
    expect(await send({ path: '/healthz' })).toEqual(refusal('it has no hop header'));
  });

  it('refuses a forged header', async () => {
    const { [HOP_HEADER]: value = '' } = await hop();
    const [text = '', mac = ''] = value.split('.');
    const statement = JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...statement, client: { remoteAddress: '::1' } })).toString(
      'base64url',
    );
    for (const forged of [`${changed}.${mac}`, `${text}.AAAA`, text, `${text}.`, '.', 'x'])
      expect(await send({ headers: { [HOP_HEADER]: forged } })).toEqual(refusal('its signature is invalid'));
  });

  it('refuses a header that is too old, or from the future', async () => {
    const expired = [503, expect.objectContaining({ code: 'HOP_EXPIRED' })];
    expect(await send({ headers: await hop({ ageMs: 11_000 }) })).toEqual(expired);
    expect(await send({ headers: await hop({ ageMs: -11_000 }) })).toEqual(expired);
  });

  it('refuses a header for another request, replica or sender', async () => {
    expect(await send({ headers: await hop({ path: '/things/2' }) })).toEqual(refusal('its signature is invalid'));
    expect(await send({ headers: await hop({ to: 'other' }) })).toEqual(refusal('it is for another replica'));
    expect(await send({ headers: await hop({ from: 'other' }) })).toEqual(
      refusal('it was signed by another replica than the one that sent it'),
    );
  });

  it('authorizes again, and refuses what was not authorized', async () => {
    const owned = { kind: 'thing', id: '2', workspaceUuid: caller.workspaceUuid };
    const mismatch = refusal('it is not what was authorized');
    expect(await send({ headers: await hop({ owned }) })).toEqual(mismatch);
    const other = installation.access.user('other');
    const grant = await installation.access.authorize({ principal: other.principal, action: 'thing:read' });
    const granted = createGrantedAccess(other.principal, new Date(), 'thing:read', grant);
    expect(await send({ headers: await hop({ granted }) })).toEqual(mismatch);
    const own = await installation.access.authorize({ principal: caller.principal, action: 'thing:create' });
    const change = createGrantedAccess(caller.principal, new Date(), 'thing:create', own);
    expect(await send({ headers: await hop({ granted: change }) })).toEqual(mismatch);
    expect(await send({ headers: await hop({ granted: null }) })).toEqual(mismatch); // as on routes with their own credential
  });

  it('refuses a revoked credential, whatever the hop states', async () => {
    const headers = await hop();
    installation.access.revoke(caller);
    expect(await send({ headers })).toEqual([401, expect.objectContaining({ code: 'UNAUTHORIZED' })]);
  });

  it('refuses a credential soon after its revocation, although it was just confirmed', async () => {
    expect(await send({ headers: await hop() })).toMatchObject([200, {}]);
    const headers = await hop();
    installation.access.revoke(caller);
    await expect.poll(() => send({ headers }), { timeout: 5_000 }).toMatchObject([401, { code: 'UNAUTHORIZED' }]);
  });

  it('serves no address that nothing forwards to', async () => {
    const headers = await hop({ path: '/things' });
    expect(await send({ path: '/things', headers })).toEqual(refusal('requests for this address are never forwarded'));
    const upgrade = { connection: 'Upgrade', upgrade: 'echo', ...(await hop({ path: '/local' })) };
    const local = await send({ path: '/local', headers: upgrade });
    expect(local).toEqual(refusal('requests for this address are never forwarded'));
  });
});

describe('a public listener', () => {
  async function sendPublic(path: string, headers: OutgoingHttpHeaders): Promise<unknown> {
    const outgoing = sendPlain(`${target.url}${path}`, { headers: { ...caller.headers, ...headers } }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return [response.statusCode, await json(response)];
  }

  it('refuses every request with a hop header, also a valid one', async () => {
    const onlyReplicas = refusal('only replicas may forward');
    expect(await sendPublic('/things/1', await hop())).toEqual(onlyReplicas);
    expect(await sendPublic('/things', { [HOP_HEADER]: '' })).toEqual(onlyReplicas);
    const upgrade = { connection: 'Upgrade', upgrade: 'echo', ...(await hop({ path: '/echo' })) };
    expect(await sendPublic('/echo', upgrade)).toEqual(onlyReplicas);
  });
});
