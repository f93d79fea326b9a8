import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import type { HelperBinaries } from '@svc/helper-binary';
import { Shares } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { SandboxSpec } from '../../../domain/driver.ts';
import { readKept, writeRecord, type KeptSandbox } from './kept-sandbox.ts';
import { installProgram } from './machine.ts';

const MIB = 1024 * 1024;
const KEY_BYTES = 32;
/** Of all mounts together, of which each workspace and owner has a share. */
const MAX_CONNECTIONS = 4_096;
/** Connections that have not shown a key yet: beyond it, the oldest one ends. Programs show theirs at once. */
const MAX_STRANGERS = 256;
/** Time to show a key. */
const STRANGER_MS = 5_000;
const LOG_EVERY_MS = 60_000;
const MAX_KNOWN = 10_000;

/** Serves a request for a mount of a sandbox, by its index. Never throws. */
export type ServeMount = (
  sandboxId: string,
  index: number,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

/** Whose a sandbox is. All workspaces of an owner have one share of what tenants share on this machine. */
export interface SandboxTenants {
  /** Null if there is no such sandbox. */
  workspaceOf(sandboxId: string): Promise<string | null>;
  shareOf(this: void, workspaceUuid: string): string;
}

export interface LocalMountsOptions {
  readonly dataFolder: string;
  readonly runFolder: string;
  readonly helperBinaries: HelperBinaries;
  readonly serve: ServeMount;
  readonly tenants: SandboxTenants;
  readonly log: Logger;
  /** Defaults to 4,096. */
  readonly maxConnections?: number;
}

/**
 * Buckets in sandboxes: a program beside the platform serves each over FUSE (`native/bucket-mount`), and asks the platform over
 * a Unix socket, with a key that is only good for this mount. The platform stores the hash of the key with the sandbox.
 */
export class LocalMounts {
  readonly #options: LocalMountsOptions;
  readonly #known = new Map<string, readonly string[]>();
  readonly #shares: Shares;
  /** In order of arrival. */
  readonly #strangers = new Set<Socket>();
  /** Whether a connection that has shown a key has a place. */
  readonly #seats = new WeakMap<Socket, Promise<boolean>>();
  #loggedAtMs = -Infinity;
  #server: Server | null = null;

  constructor(options: LocalMountsOptions) {
    this.#options = options;
    const { maxConnections: capacity = MAX_CONNECTIONS, tenants } = options;
    this.#shares = new Shares({
      capacity,
      groupOf: tenants.shareOf,
      holders: { key: 'workspace', group: 'owner' },
    });
  }

  /** Why this machine cannot mount buckets; null if it can. */
  whyNot(): string | null {
    return existsSync('/dev/fuse') ? null : 'the host has no /dev/fuse; load the kernel module fuse';
  }

  /** Listens for programs, those of an earlier platform among them. */
  async open(): Promise<void> {
    const server = createServer((request, response) => void this.#handle(request, response));
    server.on('connection', (socket) => this.#greet(socket));
    server.requestTimeout = 0; // a file may be as large as the store allows
    server.timeout = 0;
    const socket = this.#socket();
    await rm(socket, { force: true }); // of an earlier platform; the data folder has one at a time
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ path: socket }, resolve);
    });
    await chmod(socket, 0o666); // programs run under ids that only their sandboxes have; the key decides
    this.#server = server;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    this.#known.clear();
    if (server === null) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  /**
   * Returns the part of a start plan. Builds the program if needed, and records the hashes of new keys, so that programs of an
   * earlier start have none. `written` resolves when the record of the sandbox is on disk.
   */
  async plan(
    spec: SandboxSpec,
    kept: KeptSandbox,
    written: Promise<void> | undefined,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>[]> {
    const { mounts = [] } = spec;
    if (mounts.length === 0) return [];
    const { dataFolder, runFolder, helperBinaries } = this.#options;
    const binary = await helperBinaries(process.arch, signal, 'bucket-mount');
    const program = await installProgram(binary, runFolder, 'bucket-mount');
    const folder = join(dataFolder, 'disks', spec.id);
    const keys = mounts.map((_, index) => `${spec.id}.${index}.${randomBytes(KEY_BYTES).toString('hex')}`);
    await written;
    await writeRecord(join(folder, 'sandbox.json'), { ...kept, mountKeys: keys.map(hashOf) });
    this.forget(spec.id);
    return mounts.map(({ path, readOnly }, index) => ({
      path,
      read_only: readOnly,
      program,
      spool: join(folder, `spool-${index}`),
      settings: { socket: this.#socket(), key: keys[index], spool_bytes: spec.resources.diskMb * MIB },
    }));
  }

  forget(sandboxId: string): void {
    this.#known.delete(sandboxId);
  }

  #socket(): string {
    return join(this.#options.runFolder, 'mounts.sock');
  }

  /** Any program of this machine can connect. Those without a key make room for others, however many they are. */
  #greet(socket: Socket): void {
    this.#strangers.add(socket);
    socket.setTimeout(STRANGER_MS, () => {
      if (this.#strangers.has(socket)) socket.destroy();
    });
    socket.once('close', () => this.#strangers.delete(socket));
    const [oldest] = this.#strangers;
    if (this.#strangers.size > MAX_STRANGERS) oldest?.destroy();
  }

  /** Counts a connection for the workspace of its first key. Returns false beyond its share. */
  async #seat(socket: Socket, sandboxId: string): Promise<boolean> {
    this.#strangers.delete(socket);
    socket.setTimeout(0);
    const workspaceUuid = await this.#options.tenants.workspaceOf(sandboxId);
    if (workspaceUuid === null || socket.destroyed) return true; // the request tells
    const { refusal, release } = this.#shares.take(workspaceUuid);
    if (release !== null) {
      socket.once('close', release);
      return true;
    }
    const nowMs = performance.now();
    if (nowMs - this.#loggedAtMs >= LOG_EVERY_MS) {
      this.#loggedAtMs = nowMs;
      const facts = { sandbox: sandboxId, workspace: workspaceUuid, ...refusal };
      this.#options.log.warn(facts, 'mounts of buckets have to wait: too many connections');
    }
    return false;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const place = await this.#authenticate(request.headers.authorization ?? '').catch(() => undefined);
    if (place !== undefined && place !== null) {
      const { socket } = request;
      const seat = this.#seats.get(socket) ?? this.#seat(socket, place.sandboxId);
      this.#seats.set(socket, seat);
      // The program connects again until there is room, for half a minute.
      if (!(await seat.catch(() => false))) return void socket.destroy();
      return this.#options.serve(place.sandboxId, place.index, request, response);
    }
    request.resume();
    const [status, errno] = place === null ? [403, 'EACCES'] : [503, 'EIO'];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ errno }));
  }

  /** Null for a key that is not of a mount here. */
  async #authenticate(header: string): Promise<{ sandboxId: string; index: number } | null> {
    const [, key, sandboxId = '', index = ''] = /^Bearer ((sbx_[a-z2-7]{26})\.(\d)\.[0-9a-f]{64})$/.exec(header) ?? [];
    if (key === undefined) return null;
    const hashes = this.#known.get(sandboxId) ?? (await this.#load(sandboxId));
    const expected = hashes[Number(index)];
    if (expected === undefined || !timingSafeEqual(Buffer.from(expected), Buffer.from(hashOf(key)))) return null;
    return { sandboxId, index: Number(index) };
  }

  async #load(sandboxId: string): Promise<readonly string[]> {
    const hashes = (await readKept(this.#options.dataFolder, sandboxId))?.mountKeys ?? [];
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    if (hashes.length > 0) this.#known.set(sandboxId, hashes);
    return hashes;
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
