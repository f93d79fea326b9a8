import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import { sandboxErrors } from '../../../errors.ts';
import { findProgram } from './requirements.ts';
import type { Machine } from './machine.ts';
import { volumeServerPlan } from './start-plan.ts';
import { assertSandboxId, type VolumeDriver } from '../../../domain/driver.ts';

const MIB = 1024 * 1024;
/** A server has nothing to finish: its changes are complete when they are answered. */
const END_LIMIT_MS = 1000;
/** The block unit of `stat`, regardless of the file system's block size. */
const STAT_BLOCK_BYTES = 512;

export interface LocalVolumesOptions {
  readonly dataFolder: string;
  readonly runFolder: string;
  /** Throws SANDBOXES_UNAVAILABLE while the driver is not open. */
  readonly machine: () => Machine;
  /** Calls the launcher. */
  readonly call: (op: string, id: string, parameters: Record<string, unknown>) => Promise<unknown>;
}

/**
 * Volumes are sparse files with a file system, `volumes/<id>/volume.img`, like the disks of sandboxes. All mounts of one
 * share its loop device.
 */
export class LocalVolumes implements VolumeDriver {
  readonly #options: LocalVolumesOptions;

  constructor(options: LocalVolumesOptions) {
    this.#options = options;
  }

  async create(id: string, sizeMb: number): Promise<void> {
    const { machine, call } = this.#options;
    const to = await this.#prepare(id);
    await call('make_volume', id, { from: await machine().templates.ofSize(sizeMb), to });
  }

  async copy(id: string, targetId: string): Promise<{ sizeBytes: number }> {
    const { call } = this.#options;
    const to = await this.#prepare(targetId);
    // Check before the freeze: if a launcher dies during the copy, sandboxes stay frozen.
    const paused = await this.#pausedSandboxes();
    const copied = await call('copy_volume', id, { from: this.fileOf(id), to, paused_sandboxes: paused });
    const { size_bytes: size } = copied as { size_bytes?: unknown }; // the launcher's answer, checked here
    return { sizeBytes: typeof size === 'number' ? size : 0 };
  }

  async resize(id: string, sizeMb: number): Promise<void> {
    const tool = findProgram('resize2fs') ?? 'resize2fs'; // the name is in the error if it is missing
    await this.#options.call('resize_volume', id, { from: this.fileOf(id), size_bytes: sizeMb * MIB, tool });
  }

  async serve(id: string, signal: AbortSignal): Promise<HelperConnection> {
    const { call, machine, runFolder } = this.#options;
    const server = serverOf(id);
    await call('start', server, { plan: volumeServerPlan(server, id, this.fileOf(id), machine()) });
    try {
      return await HelperConnection.open(join(runFolder, 'sandboxes', server, 'agent.sock'), signal, 'volume');
    } catch (error) {
      await this.endServing(id);
      throw sandboxErrors.AGENT_TIMEOUT({ cause: error });
    }
  }

  async endServing(id: string): Promise<void> {
    await this.#options.call('stop', serverOf(id), { timeout_ms: END_LIMIT_MS });
  }

  async sizeBytes(id: string): Promise<number> {
    const found = await stat(this.fileOf(id)).catch(nullIfMissing);
    return (found?.blocks ?? 0) * STAT_BLOCK_BYTES; // sparse file, so its length is not its usage
  }

  async remove(id: string): Promise<void> {
    await rm(dirname(this.fileOf(id)), { recursive: true, force: true });
  }

  async list(): Promise<readonly string[]> {
    return (await readdir(join(this.#options.dataFolder, 'volumes')).catch(nullIfMissing)) ?? [];
  }

  /** Path of a volume. */
  fileOf(id: string): string {
    assertSandboxId(id);
    return join(this.#options.dataFolder, 'volumes', id, 'volume.img');
  }

  async #prepare(id: string): Promise<string> {
    const file = this.fileOf(id);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return file;
  }

  async #pausedSandboxes(): Promise<string[]> {
    const { sandboxes } = (await this.#options.call('list', '', {})) as {
      sandboxes?: readonly { sandbox: string; paused: boolean }[];
    }; // the launcher's answer
    return (sandboxes ?? []).filter(({ paused }) => paused).map(({ sandbox }) => sandbox);
  }
}

/** Its name among the sandboxes of the launcher. */
function serverOf(volumeId: string): string {
  return `serve-${volumeId}`;
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
