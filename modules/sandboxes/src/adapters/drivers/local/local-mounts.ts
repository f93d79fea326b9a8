import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { HelperBinaries } from '@svc/helper-binary';
import type { SandboxSpec } from '../../../domain/driver.ts';
import { readKept, writeRecord, type KeptSandbox } from './kept-sandbox.ts';
import { installProgram } from './machine.ts';

const MIB = 1024 * 1024;
const KEY_BYTES = 32;
/** Of all mounts together. */
const MAX_CONNECTIONS = 4_096;
const MAX_KNOWN = 10_000;

/** Serves a request for a mount of a sandbox, by its index. Never throws. */
export type ServeMount = (
  sandboxId: string,
  index: number,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>;

export interface LocalMountsOptions {
  readonly dataFolder: string;
  readonly runFolder: string;
  readonly helperBinaries: HelperBinaries;
  readonly serve: ServeMount;
}

/**
 * Buckets in sandboxes: a program beside the platform serves each over FUSE (`native/bucket-mount`), and asks the platform over
 * a Unix socket, with a key that is only good for this mount. The platform stores the hash of the key with the sandbox.
 */
export class LocalMounts {
  readonly #options: LocalMountsOptions;
  readonly #known = new Map<string, readonly string[]>();
  #server: Server | null = null;

  constructor(options: LocalMountsOptions) {
    this.#options = options;
  }

  /** Why this machine cannot mount buckets; null if it can. */
  whyNot(): string | null {
    return existsSync('/dev/fuse') ? null : 'the host has no /dev/fuse; load the kernel module fuse';
  }

  /** Listens for programs, those of an earlier platform among them. */
  async open(): Promise<void> {
    const server = createServer((request, response) => void this.#handle(request, response));
    server.maxConnections = MAX_CONNECTIONS;
    server.requestTimeout = 0; // a file may be as large as the store allows
    server.timeout = 0;
    const socket = this.#socket();
    await rm(socket, { force: true }); // of an earlier platform; the data folder has one at a time
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ path: socket }, resolve);
    });
    await chmod(socket, 0o666); // programs run under ids of their sandboxes; the key decides
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

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const place = await this.#authenticate(request.headers.authorization ?? '').catch(() => undefined);
    if (place !== undefined && place !== null)
      return this.#options.serve(place.sandboxId, place.index, request, response);
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
