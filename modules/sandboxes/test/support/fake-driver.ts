import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HelperConnection } from '../../src/domain/helper/helper-connection.ts';
import { assertSandboxId } from '../../src/domain/driver.ts';
import type {
  ArchiveSource,
  DeclaredCapability,
  DriverStatus,
  FoundSandbox,
  SandboxCondition,
  SandboxDriver,
  SandboxSpec,
  SandboxStats,
  SnapshotDriver,
  VolumeDriver,
} from '../../src/domain/driver.ts';
import { sandboxErrors } from '../../src/errors.ts';
import { FakeHelper } from './helper-double.ts';

interface FakeSandbox {
  helper: FakeHelper | null;
  outOfMemory: boolean;
  paused: boolean;
}

/** A driver whose sandboxes are sockets with the helper's protocol. Tests make its next steps fail or wait. */
export class FakeDriver implements SandboxDriver {
  readonly name = 'fake';
  /** Independent of the machine. */
  readonly parallelStarts = 2;
  /** Tests add to it. */
  readonly lacks = new Set<DeclaredCapability>();
  hasGpus = false;
  readonly sandboxes = new Map<string, FakeSandbox>();
  /** Awaited at the start of `create`; make it throw or wait. */
  beforeCreate: (spec: SandboxSpec, signal: AbortSignal) => Promise<void> = async () => undefined;
  beforeStart: (spec: SandboxSpec, signal: AbortSignal) => Promise<void> = async () => undefined;
  #folder: string | null = null;
  #status: DriverStatus = { available: true, details: {} };

  async open(): Promise<DriverStatus> {
    this.#folder ??= await mkdtemp(join(tmpdir(), 'svc-fake-'));
    await mkdir(this.#folder, { recursive: true });
    return this.#status;
  }

  status(): DriverStatus {
    return this.#status;
  }

  setStatus(status: DriverStatus): void {
    this.#status = status;
  }

  /** Supported isolations; tests add or remove some. */
  readonly isolations = new Set<string>(['namespaces']);

  whyUnsupported(isolation: string): string | null {
    return this.isolations.has(isolation) ? null : 'the fake driver has none';
  }

  async create(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    assertSandboxId(spec.id);
    signal.throwIfAborted();
    await this.beforeCreate(spec, signal);
    if (typeof spec.snapshotId === 'string' && !this.kept.has(spec.snapshotId) && !this.sandboxes.has(spec.id)) {
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    }
    if (!this.sandboxes.has(spec.id)) this.sandboxes.set(spec.id, { helper: null, outOfMemory: false, paused: false });
  }

  async isCreated(id: string): Promise<boolean> {
    assertSandboxId(id);
    return this.sandboxes.has(id);
  }

  async start(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    assertSandboxId(spec.id);
    await this.beforeStart(spec, signal);
    const sandbox = this.sandboxes.get(spec.id);
    if (sandbox === undefined) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
    if (sandbox.helper !== null) return;
    const helper = new FakeHelper(join(this.#folder ?? tmpdir(), `${spec.id}.sock`));
    await helper.listen();
    sandbox.helper = helper;
  }

  async connect(id: string, signal: AbortSignal): Promise<HelperConnection> {
    assertSandboxId(id);
    const helper = this.sandboxes.get(id)?.helper;
    if (helper === null || helper === undefined) throw sandboxErrors.AGENT_TIMEOUT();
    return HelperConnection.open(helper.path, signal);
  }

  async inspect(id: string): Promise<SandboxCondition> {
    assertSandboxId(id);
    const sandbox = this.sandboxes.get(id);
    return { running: (sandbox?.helper ?? null) !== null, outOfMemory: sandbox?.outOfMemory ?? false };
  }

  /** The next reading; tests change it. */
  reading: SandboxStats = { cpuMicroseconds: null, memoryBytes: null, pids: null, diskBytes: null, oomKills: null };

  async stats(id: string): Promise<SandboxStats> {
    assertSandboxId(id);
    return this.reading;
  }

  async pause(id: string): Promise<void> {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined || sandbox.helper === null)
      throw sandboxErrors.RUNTIME_FAILED({ details: { reason: 'it does not run' } });
    sandbox.paused = true;
    sandbox.helper.freeze();
  }

  async resume(id: string): Promise<void> {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return;
    sandbox.paused = false;
    sandbox.helper?.thaw();
  }

  /** Ids of snapshots; the fake has no files. Tests make the next one fail or wait. */
  readonly kept = new Set<string>();
  beforeSnapshot: (id: string, snapshotId: string) => Promise<void> = async () => undefined;
  /** Size that `sizeBytes` reports for any copy. */
  copyBytes = 4096;
  /** Size of the next snapshot. */
  takenBytes = 4096;
  readonly snapshots: SnapshotDriver = {
    sizeBytes: async (of) => ('sandbox' in of || this.kept.has(of.snapshot) ? this.copyBytes : 0),
    take: async (id, snapshotId) => {
      if (!this.sandboxes.has(id)) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
      this.kept.add(snapshotId);
      await this.beforeSnapshot(id, snapshotId);
      return { sizeBytes: this.takenBytes };
    },
    remove: async (snapshotId) => void this.kept.delete(snapshotId),
    list: async () => [...this.kept],
    archives: {
      format: 'fake',
      base: async () => this.image,
      mayContinue: async (id) => !this.elsewhere.has(id),
      describeBase: (base) => this.describeImage(base),
      readBase: (base) => this.readImage(base),
      addBase: (base, content) => this.addImage(base, content),
      read: (snapshotId) => this.#readArchive(snapshotId),
      create: (spec, archive, signal) => this.createFromArchive(spec, archive, signal),
    },
  };
  /** Name of the image below every snapshot, and those that this driver has. */
  image = 'busybox';
  readonly images = new Set<string>(['busybox']);
  /** Sandboxes whose processes still run on this machine for another node. */
  readonly elsewhere = new Set<string>();
  /** What each sandbox was created from, if from an archive. */
  readonly restored = new Map<string, string>();
  beforeArchive: (snapshotId: string) => Promise<void> = async () => undefined;

  protected async describeImage(image: string): Promise<{ isBuilt: boolean; sizeBytes: number }> {
    return { isBuilt: image.startsWith('built-'), sizeBytes: 4096 };
  }

  /** The content of the archive of an image. */
  protected readImage(image: string): AsyncIterable<Uint8Array> {
    return chunksOf(`image ${image}`);
  }

  protected async addImage(image: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    if ((await textOf(content)) === `image ${image}`) this.images.add(image);
  }

  async *#readArchive(snapshotId: string): AsyncGenerator<Uint8Array> {
    await this.beforeArchive(snapshotId);
    if (!this.kept.has(snapshotId)) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    yield* chunksOf(`files of ${snapshotId}`);
  }

  protected async createFromArchive(spec: SandboxSpec, archive: ArchiveSource, signal: AbortSignal): Promise<void> {
    assertSandboxId(spec.id);
    await this.beforeCreate(spec, signal);
    if (this.sandboxes.has(spec.id)) return;
    if (!this.images.has(this.image)) {
      const base = await archive.openBase();
      if (base === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
      this.images.add((await textOf(base)).replace('image ', ''));
    }
    this.restored.set(spec.id, await textOf(archive.open()));
    this.sandboxes.set(spec.id, { helper: null, outOfMemory: false, paused: false });
  }

  /** Mounts nothing. Tests give reasons. */
  whyNoMounts = (): string | null => this.noMountsReason;
  noMountsReason: string | null = null;

  /** Sizes in MiB of volumes by id; the fake has no files. Tests make the next copy or resize fail or wait. */
  readonly volumeSizes = new Map<string, number>();
  /** Helpers of volumes, by id of the volume. */
  readonly volumeServers = new Map<string, FakeHelper>();
  beforeVolumeChange: (id: string) => Promise<void> = async () => undefined;
  readonly volumes: VolumeDriver = {
    create: async (id, sizeMb) => {
      assertSandboxId(id);
      this.volumeSizes.set(id, sizeMb);
      await this.beforeVolumeChange(id);
    },
    copy: async (id, targetId) => {
      assertSandboxId(id);
      const sizeMb = this.volumeSizes.get(id);
      if (sizeMb === undefined) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the volume is gone' } });
      this.volumeSizes.set(targetId, sizeMb);
      await this.beforeVolumeChange(targetId);
      return { sizeBytes: 4096 };
    },
    resize: async (id, sizeMb) => {
      assertSandboxId(id);
      await this.beforeVolumeChange(id);
      const current = this.volumeSizes.get(id);
      if (current === undefined) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the volume is gone' } });
      this.volumeSizes.set(id, Math.max(current, sizeMb));
    },
    serve: async (id, signal) => {
      assertSandboxId(id);
      if (!this.volumeSizes.has(id)) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the volume is gone' } });
      await this.beforeVolumeChange(id);
      const helper = this.volumeServers.get(id) ?? new FakeHelper(join(this.#folder ?? tmpdir(), `${id}.sock`));
      if (!this.volumeServers.has(id)) await helper.listen();
      this.volumeServers.set(id, helper);
      return HelperConnection.open(helper.path, signal);
    },
    endServing: async (id) => {
      const helper = this.volumeServers.get(id);
      this.volumeServers.delete(id);
      await helper?.close();
    },
    sizeBytes: async (id) => {
      assertSandboxId(id);
      return this.volumeSizes.has(id) ? this.copyBytes : 0;
    },
    remove: async (id) => {
      assertSandboxId(id);
      this.volumeSizes.delete(id);
    },
    list: async () => [...this.volumeSizes.keys()],
  };

  async stop(id: string): Promise<void> {
    assertSandboxId(id);
    await this.resume(id);
    const sandbox = this.sandboxes.get(id);
    const helper = sandbox?.helper;
    if (sandbox !== undefined) sandbox.helper = null;
    await helper?.close();
  }

  /** Awaited at the start of `remove`; make it throw or wait. */
  beforeRemove: (id: string) => Promise<void> = async () => undefined;

  async remove(id: string): Promise<void> {
    assertSandboxId(id);
    await this.beforeRemove(id);
    await this.stop(id);
    this.sandboxes.delete(id);
  }

  async list(): Promise<readonly FoundSandbox[]> {
    return [...this.sandboxes].map(([id, sandbox]) => ({
      id,
      running: sandbox.helper !== null,
      paused: sandbox.paused,
    }));
  }

  /** Ends the first process as after a crash, or as if it ran out of memory. */
  async crash(id: string, outOfMemory = false): Promise<void> {
    const sandbox = this.sandboxes.get(id);
    if (sandbox !== undefined) sandbox.outOfMemory = outOfMemory;
    await this.stop(id);
  }

  async close(): Promise<void> {}

  /** Not part of the port: cleanup at the end of a test. */
  async dispose(): Promise<void> {
    for (const id of this.sandboxes.keys()) await this.stop(id);
    if (this.#folder !== null) await rm(this.#folder, { recursive: true, force: true });
  }
}

export async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  for (const part of text.split(' ')) yield Buffer.from(`${part} `);
}

export async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString('utf8');
  return text.trim();
}
