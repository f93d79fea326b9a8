import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import { isAppError } from '@svc/errors';
import {
  endToEndHeaders,
  hasSmallBody,
  httpErrors,
  isPlain,
  keepOpen,
  readSmallBody,
  relayPlain,
  relayRequest,
  relayUpgrade,
  type Forwarded,
  type ForwardedExchange,
  type Forwarding,
  type HeaderList,
  type Hop,
  type Owned,
  type OwnedConnection,
  type RelayedUpgrade,
  type RelayTarget,
} from '@svc/http';
import { joinStreams } from '@svc/mux';
import { BackgroundLoop, Shares, type Clock } from '@svc/runtime';
import { connectUpgrade } from './connect-upgrade.ts';
import { forwardErrors } from './errors.ts';
import { HOP_HEADER, HopSignature, type SignedRequest } from './hop.ts';
import { PeerAgent, type Peer } from './peer-agent.ts';

/** More at once are refused, and one tenant beyond its share: each one takes two connections and their buffers. */
const MAX_OPEN = 10_000;
/** The owner may hold a terminal for a minute while its sandbox starts. */
const UPGRADE_TIMEOUT_MS = 90_000;
const WATCH_EVERY_MS = 2_000;
/** Of connections that replicas themselves open: no client named a host. */
const REPLICA_HOST = 'replica.internal';
const RETRY_AFTER = { 'retry-after': '1' } as const;
/** About the bytes of a body, which is sent again in other bytes. */
const OF_BODY: ReadonlySet<string> = new Set(['content-length', 'content-digest', 'content-md5', 'expect', 'trailer']);
/** Safe to repeat, whatever the owner has done with the request (RFC 9110, section 9.2.1). */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Where something is held: at this replica, at another one that can be reached, or nowhere. */
export type Owner = 'here' | 'none' | Peer;

/** Knows where everything is that only one replica can serve. */
export interface Owners {
  find(owned: Owned): Promise<Owner>;
}

/** The TLS identity of this replica, all in PEM. */
export interface ReplicaIdentity {
  /** The authorities that sign the certificates of replicas, and of nothing else: several while one is renewed. */
  readonly ca: readonly string[];
  readonly cert: string;
  readonly key: string;
  /** Signs hops; the same on every replica. */
  readonly hopKey: KeyObject;
  /** Verify hops: the same key, and others while it is renewed. */
  readonly hopKeys: readonly KeyObject[];
}

/** Dependencies of the forwarder. */
export interface ForwarderDeps {
  /** This replica. */
  readonly self: string;
  readonly identity: ReplicaIdentity;
  readonly owners: Owners;
  /** Replicas whose lease has not ended. */
  readonly livePeers: () => Promise<readonly Pick<Peer, 'replica' | 'bootId'>[]>;
  /** Milliseconds of a clock that all replicas share. */
  readonly nowMs: () => number;
  /** Receives failures to read the live replicas. */
  readonly onError: (error: unknown) => void;
  readonly clock?: Pick<Clock, 'setTimer'>;
  /** The owner of a workspace, all of whose workspaces have one share. */
  readonly shareOf: (workspaceUuid: string) => string;
  /** Defaults to 10,000. */
  readonly maxOpen?: number;
}

/** Forwards requests to their owners. Bodies stream in both directions; backpressure reaches the source. */
export class Forwarder implements Forwarding {
  readonly #deps: ForwarderDeps;
  readonly #hops = new WeakMap<IncomingMessage, Hop>();
  readonly #signature: HopSignature;
  #identity: ReplicaIdentity;
  #secureContext: SecureContext;
  readonly #agents = new Map<string, PeerAgent>();
  readonly #watch: BackgroundLoop;
  readonly #open: Shares;
  /** Replicas that the last check did not find live. */
  #missing: ReadonlySet<string> = new Set();

  constructor(deps: ForwarderDeps) {
    this.#deps = deps;
    const { identity, self, nowMs, onError, clock, shareOf, maxOpen = MAX_OPEN } = deps;
    this.#open = new Shares({ capacity: maxOpen, groupOf: shareOf, holders: { key: 'workspace', group: 'owner' } });
    this.#identity = identity;
    this.#signature = new HopSignature({ keys: () => this.#identity, self, nowMs });
    this.#secureContext = contextFor(identity);
    this.#watch = new BackgroundLoop({
      run: () => this.#cutDeadPeers(),
      intervalMs: WATCH_EVERY_MS,
      onError,
      ...(clock === undefined ? {} : { clock }),
    });
  }

  /** Takes a new identity for new connections and requests; those under way keep the old one. */
  replaceIdentity(identity: ReplicaIdentity): void {
    this.#identity = identity;
    this.#secureContext = contextFor(identity);
  }

  /** Number of requests and connections that are being forwarded. */
  get open(): number {
    return this.#open.held;
  }

  /** Begins to watch the replicas that are forwarded to: what goes to a dead one is cut. */
  start(): void {
    this.#watch.start();
  }

  /** Cuts everything that is being forwarded. */
  async close(): Promise<void> {
    await this.#watch.close();
    for (const agent of this.#agents.values()) agent.cut();
    this.#agents.clear();
  }

  /**
   * Accepts a request of the internal listener. `isFrom` compares with the certificate of the sender. Throws
   * HOP_REFUSED.
   */
  admit(request: IncomingMessage, isFrom: (replica: string) => boolean): void {
    this.#hops.set(request, this.#signature.verify(request, isFrom));
    removeHop(request);
  }

  hopOf(request: IncomingMessage): Hop | null {
    return this.#hops.get(request) ?? null;
  }

  async forwardRequest(exchange: ForwardedExchange, forwarded: Forwarded): Promise<boolean> {
    const { request, response, begin, answerHeaders = {} } = exchange;
    const peer = await this.#findPeer(request, forwarded);
    if (peer === null) return false;
    const agent = this.#agentFor(peer);
    const leave = this.#enter(forwarded);
    begin?.();
    const read = exchange.body?.();
    const body = read ?? (hasSmallBody(request) ? await readSmallBody(request, response) : undefined);
    if (body === null || response.destroyed) return leave(); // the client left meanwhile
    keepOpen(request.socket); // the owner bounds idle time
    try {
      const target = {
        ...this.#targetOf(request, peer, forwarded, agent, read),
        timeoutMs: 0, // the owner decides how long an answer may take
        answerHeaders: (headers: HeaderList) => withMissing(headers, answerHeaders),
      };
      const plain = { ...target, connections: agent.plain };
      if (body !== undefined || isPlain(request)) await relayPlain(request, response, plain, body);
      else await relayRequest(request, response, target);
    } catch (error) {
      throw toForwardError(error, { request, peer, agent, forwarded });
    } finally {
      leave();
    }
    return true;
  }

  async forwardUpgrade(upgrade: RelayedUpgrade, forwarded: Forwarded): Promise<boolean> {
    const { request } = upgrade;
    const peer = await this.#findPeer(request, forwarded);
    if (peer === null) return false;
    const agent = this.#agentFor(peer);
    const leave = this.#enter(forwarded);
    if (upgrade.socket.destroyed) return leave(); // the client left meanwhile
    let isJoined = false;
    const join = (client: Duplex, server: Duplex): Promise<void> => {
      isJoined = true;
      keepOpen(client);
      return joinStreams(client, server).finally(() => void leave());
    };
    try {
      const target = { ...this.#targetOf(request, peer, forwarded, agent), timeoutMs: UPGRADE_TIMEOUT_MS };
      await relayUpgrade(upgrade, target, join);
    } catch (error) {
      throw toForwardError(error, { request, peer, agent, forwarded });
    } finally {
      if (!isJoined) leave();
    }
    return true;
  }

  async connect({ path, protocol, signal }: OwnedConnection, forwarded: Forwarded): Promise<Duplex | null> {
    const peer = await this.#deps.owners.find(forwarded.owned);
    if (typeof peer === 'string') return null;
    const agent = this.#agentFor(peer);
    const request: SignedRequest = { method: 'GET', url: path, headers: { host: REPLICA_HOST } };
    const headers = {
      Host: REPLICA_HOST,
      'X-Request-ID': forwarded.requestId,
      'X-Svc-Hop': this.#signature.sign(request, peer.replica, forwarded),
    };
    const leave = this.#enter(forwarded);
    try {
      const socket = await connectUpgrade({ agent, path, protocol, headers, signal, timeoutMs: UPGRADE_TIMEOUT_MS });
      keepOpen(socket);
      socket.on('error', () => socket.destroy()); // a reset or a cut must not crash the process
      socket.once('close', leave);
      return socket;
    } catch (error) {
      leave();
      signal.throwIfAborted();
      throw isAppError(error) ? error : toForwardError(error, { request, peer, agent, forwarded });
    }
  }

  /** Null if the request stays here. A request that was forwarded once is never forwarded again. */
  async #findPeer(request: IncomingMessage, forwarded: Forwarded): Promise<Peer | null> {
    const hop = this.hopOf(request);
    if (hop !== null) {
      assertAsStated(hop, forwarded);
      return null;
    }
    const owner = await this.#deps.owners.find(forwarded.owned);
    return typeof owner === 'string' ? null : owner;
  }

  /** Returns the function that ends what was counted; it returns true, as nothing is left to do then. */
  #enter({ owned }: Forwarded): () => true {
    const { refusal, release } = this.#open.take(owned.workspaceUuid);
    if (release === null) throw forwardErrors.TOO_MANY_FORWARDS({ details: { ...refusal }, headers: RETRY_AFTER });
    return () => {
      release();
      return true;
    };
  }

  #agentFor(peer: Peer): PeerAgent {
    const key = keyOf(peer);
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const agent = new PeerAgent(peer, () => this.#secureContext);
    this.#agents.set(key, agent);
    return agent;
  }

  #targetOf(
    request: IncomingMessage,
    { replica }: Peer,
    forwarded: Forwarded,
    agent: PeerAgent,
    body?: Buffer,
  ): Omit<RelayTarget, 'timeoutMs'> {
    const isOurs = (name: string): boolean => name === HOP_HEADER || name === 'x-request-id';
    const headers = endToEndHeaders(request, body === undefined ? isOurs : (name) => isOurs(name) || OF_BODY.has(name));
    if (body !== undefined) headers.push('Content-Length', String(body.length));
    headers.push('X-Request-ID', forwarded.requestId);
    headers.push('X-Svc-Hop', this.#signature.sign(request, replica, forwarded));
    return { agent, connection: agent.connection, path: request.url ?? '/', headers, dropsTrailer: isOurs };
  }

  /**
   * A paused or unplugged replica closes no connection: its lease tells that it is gone. Only the second check in a row
   * counts, because right after an outage of the database no replica has renewed its lease yet.
   */
  async #cutDeadPeers(): Promise<void> {
    if (this.#agents.size === 0) return;
    const live = new Set((await this.#deps.livePeers()).map(keyOf));
    const missing = new Set([...this.#agents.keys()].filter((key) => !live.has(key)));
    for (const key of missing) {
      if (!this.#missing.has(key)) continue;
      this.#agents.get(key)?.cut();
      this.#agents.delete(key);
    }
    this.#missing = missing;
  }
}

/** The owner authorized the request for itself: it must be what the first replica stated. */
function assertAsStated({ owned: stated, granted: before }: Hop, { owned, granted }: Forwarded): void {
  const isSame =
    stated.kind === owned.kind &&
    stated.id === owned.id &&
    stated.workspaceUuid === owned.workspaceUuid &&
    (before === null) === (granted === null) &&
    before?.action === granted?.action &&
    before?.credential.principalId === granted?.credential.principalId &&
    before?.credential.credentialId === granted?.credential.credentialId &&
    before?.grant?.workspaceUuid === granted?.grant?.workspaceUuid;
  if (!isSame) throw httpErrors.HOP_REFUSED({ details: { reason: 'it is not what was authorized' } });
}

interface Failure {
  readonly request: Pick<IncomingMessage, 'method'>;
  readonly peer: Peer;
  readonly agent: PeerAgent;
  readonly forwarded: Forwarded;
}

/** Only a request that the owner cannot have carried out may be answered with "try again". */
function toForwardError(cause: unknown, { request, peer, agent, forwarded }: Failure): Error {
  const details = { replica: peer.replica, kind: forwarded.owned.kind };
  if (SAFE.has(request.method ?? '') || agent.isUnsent(cause)) {
    return forwardErrors.REPLICA_UNREACHABLE({ details, headers: RETRY_AFTER, cause });
  }
  return forwardErrors.REPLICA_LOST({ details, cause });
}

function withMissing(headers: HeaderList, more: Readonly<Record<string, string>>): HeaderList {
  const names = new Set(headers.filter((_each, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  return [...headers, ...Object.entries(more).flatMap(([name, value]) => (names.has(name) ? [] : [name, value]))];
}

/** Whatever is behind the owner, such as a service in a cluster, must not see the header. */
function removeHop({ headers, rawHeaders }: IncomingMessage): void {
  delete headers[HOP_HEADER];
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === HOP_HEADER);
  if (at !== -1) rawHeaders.splice(at, 2);
}

function contextFor({ ca, cert, key }: ReplicaIdentity): SecureContext {
  return createSecureContext({ ca: [...ca], cert, key, minVersion: 'TLSv1.3' });
}

function keyOf({ replica, bootId }: Pick<Peer, 'replica' | 'bootId'>): string {
  return `${replica} ${bootId}`;
}
