import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { confirmAccess, createGrantedAccess, createGrantedRight, createHeldRights, type HeldRights } from '@svc/access';
import {
  createClientOfRequest,
  createHttpApp,
  createListener,
  grantOf,
  httpErrors,
  UpgradeRouter,
  type Owned,
  type UpgradeRequest,
} from '@svc/http';
import { createLogger, createMetrics } from '@svc/telemetry';
import {
  createTestAuthority,
  fakeAccess,
  fakeAudit,
  fakeClock,
  type FakeAccess,
  type FakeAudit,
  type FakeClock,
  type TestAuthority,
} from '@svc/testing';
import { Forwarder, type Owner } from '../forwarder.ts';
import { createInternalListener, refuseHops } from '../internal-listener.ts';
import { replicaUri } from '../peer-identity.ts';
import type { Peer } from '../peer-agent.ts';

/** Of each replica. */
export const MAX_FORWARDS = 12;

/** What two replicas share. `owner` tells each of them where everything is. */
export interface Installation {
  readonly access: FakeAccess;
  readonly audit: FakeAudit;
  readonly clock: FakeClock;
  readonly authority: TestAuthority;
  readonly hopKey: KeyObject;
  owner: (self: string) => Owner;
  /** Awaited before `owner` is asked. */
  beforeFind: () => Promise<void>;
  live: Peer[];
  /** Added to the clock of the replicas by name. */
  readonly aheadMs: Map<string, number>;
}

export async function createInstallation(): Promise<Installation> {
  return {
    access: fakeAccess(),
    audit: fakeAudit(),
    clock: fakeClock(),
    authority: await createTestAuthority(),
    hopKey: createSecretKey(randomBytes(32)),
    owner: () => 'here',
    beforeFind: async () => undefined,
    live: [],
    aheadMs: new Map(),
  };
}

export interface TestReplica {
  readonly name: string;
  readonly url: string;
  readonly peer: Peer;
  readonly forwarder: Forwarder;
  readonly rights: HeldRights;
  /** Takes a certificate of this authority, and trusts these. */
  renew(authority: TestAuthority, trusted: readonly TestAuthority[]): Promise<void>;
  /** Ends of the streams that this replica served. */
  readonly ended: string[];
  close(): Promise<void>;
}

const THING = 'thing:read';

/** A complete replica: public and internal listener, guard, routes of things, and an echoing upgrade. */
export async function startReplica(name: string, installation: Installation): Promise<TestReplica> {
  const { access, audit, clock, authority, hopKey } = installation;
  const log = createLogger({ level: 'silent', name });
  const identity = { ca: [authority.ca], ...(await authority.issue(replicaUri(name))), hopKey, hopKeys: [hopKey] };
  const forwarder = new Forwarder({
    self: name,
    identity,
    owners: {
      find: async () => {
        await installation.beforeFind();
        return installation.owner(name);
      },
    },
    livePeers: async () => installation.live,
    nowMs: () => Date.now() + (installation.aheadMs.get(name) ?? 0),
    onError: (error) => log.error({ err: error }, 'live replicas'),
    clock,
    shareOf: (workspaceUuid) => workspaceUuid,
    maxOpen: MAX_FORWARDS,
  });
  const rights = createHeldRights(log);
  const app = await createHttpApp({
    log,
    metrics: createMetrics(),
    access,
    audit,
    rights,
    version: '0',
    forwarding: forwarder,
  });
  const ended: string[] = [];
  addRoutes(app, { name, ended, isHere: () => installation.owner(name) === 'here' });
  await app.ready();
  const upgrades = new UpgradeRouter(
    log,
    rights,
    createClientOfRequest([], (request) => forwarder.hopOf(request)),
    forwarder,
  );
  upgrades.add(echoRoute(installation, name));
  upgrades.add({
    name: 'local',
    hold: { exempt: 'test' },
    matches: (_, url) => url.pathname === '/local',
    handle: local,
  });
  const served = { handler: app.routing.bind(app), onUpgrade: upgrades.dispatch };
  const listener = createListener(refuseHops(served));
  const internal = createInternalListener({ ...served, identity, forwarder });
  const url = `http://127.0.0.1:${await listener.listen(0, '127.0.0.1')}`;
  const internalUrl = `https://127.0.0.1:${await internal.listen(0, '127.0.0.1')}`;
  const peer = { replica: name, bootId: `boot of ${name}`, url: internalUrl };
  installation.live.push(peer);
  forwarder.start();
  return {
    name,
    url,
    peer,
    forwarder,
    rights,
    ended,
    renew: async (renewed, trusted) => {
      const certificate = await renewed.issue(replicaUri(name));
      const next = { ...identity, ...certificate, ca: trusted.map(({ ca }) => ca) };
      forwarder.replaceIdentity(next);
      internal.replaceIdentity(next);
    },
    close: async () => {
      await Promise.all([listener.close(0), internal.close(0)]);
      await forwarder.close();
      await app.close();
      rights.stop();
    },
  };
}

interface RouteDeps {
  readonly name: string;
  readonly ended: string[];
  readonly isHere: () => boolean;
}

function addRoutes(app: Awaited<ReturnType<typeof createHttpApp>>, { name, ended, isHere }: RouteDeps): void {
  const owned = (request: Parameters<typeof grantOf>[0]): Owned => {
    const { id } = request.params as { id: string }; // the paths below have it
    return { kind: 'thing', id, workspaceUuid: grantOf(request).workspaceUuid };
  };
  const refuseElsewhere = (): void => {
    if (!isHere()) throw httpErrors.SHUTTING_DOWN();
  };
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.get('/things/:id', { config: { action: THING, owned } }, async (request) => {
    refuseElsewhere();
    return { servedBy: name, remote: request.ip, requestId: request.id, host: request.host };
  });
  app.put('/things/:id', { config: { action: 'thing:create', rawBody: true, owned } }, (request, reply) => {
    refuseElsewhere();
    return reply.header('content-type', 'application/octet-stream').send(request.raw);
  });
  app.get('/things/:id/stream', { config: { action: THING, owned } }, (_request, reply) => {
    reply.raw.once('close', () => ended.push(name));
    return reply.header('content-type', 'text/plain').send(Readable.from(endless()));
  });
  app.get('/things/:id/bytes', { config: { action: THING, owned } }, (_request, reply) => {
    return reply.header('content-type', 'application/octet-stream').send(Readable.from(countedBlocks()));
  });
  // Never answers, as an owner that was unplugged.
  app.post('/things/:id/silent', { config: { action: 'thing:create', owned } }, async (_request, reply) => {
    await once(reply.raw, 'close');
  });
  const ownedByBody = (request: Parameters<typeof grantOf>[0]): Owned | null => {
    const { thing } = request.body as { thing?: string }; // as its tests send it
    return thing === undefined ? null : { kind: 'thing', id: thing, workspaceUuid: grantOf(request).workspaceUuid };
  };
  app.post('/named', { config: { action: 'thing:create', ownedByBody } }, async ({ body, headers }, reply) => {
    return reply.status(201).send({ servedBy: name, body, digest: headers['content-digest'] ?? null });
  });
  app.get('/things', { config: { action: THING } }, async () => ({ servedBy: name }));
}

/** More than all buffers on the way hold together. */
export const COUNTED_BLOCKS = 256;
export const BLOCK_BYTES = 64 * 1024;

function* countedBlocks(): Generator<Buffer> {
  for (let count = 0; count < COUNTED_BLOCKS; count += 1) yield Buffer.alloc(BLOCK_BYTES, count);
}

async function* endless(): AsyncGenerator<string> {
  yield 'first\n';
  await new Promise(() => undefined);
}

function echoRoute({ access }: Installation, name: string): Parameters<UpgradeRouter['add']>[0] {
  return {
    name: 'echo',
    hold: 'required',
    forwards: true,
    matches: (_request, url) => url.pathname === '/echo',
    handle: async ({ request, socket, client, hop, hold, forward }: UpgradeRequest) => {
      const shownAt = new Date();
      // A connection that a replica itself opened has no credential of a client.
      const stated = request.headers.authorization === undefined ? (hop?.granted ?? null) : null;
      const principal =
        stated !== null
          ? await confirmAccess(access, stated)
          : await access.authenticate({ headers: request.headers, method: 'GET', ...client });
      const grant = await access.authorize({ principal, action: THING });
      const granted = createGrantedAccess(principal, shownAt, THING, grant);
      hold(createGrantedRight(access, granted, shownAt.getTime()));
      if (await forward({ kind: 'thing', id: 'echo', workspaceUuid: grant.workspaceUuid }, granted)) return;
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-Served-By: ${name}\r\n\r\n`,
      );
      socket.pipe(socket);
    },
  };
}

async function local({ socket }: UpgradeRequest): Promise<void> {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
}
