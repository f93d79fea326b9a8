import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createKubeClient, fieldAt, kubeconfigAccess, type KubeClient, type KubeObject } from '@svc/kube';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { runCommand } from './commands.ts';
import type { Kubernetes } from './index.ts';

const CLASS = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' } as const;
const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const;
const VOLUME = { apiVersion: 'v1', kind: 'PersistentVolume' } as const;
const LOOK_EVERY_MS = 150;

export interface DiskProvisioner extends AsyncDisposable {
  /** Name of the StorageClass. */
  readonly storageClass: string;
  /** Volumes that exist now. */
  volumes(): Promise<readonly string[]>;
}

/**
 * Provides the claims of a StorageClass of its own with volumes: an ext4 file system of the claimed size each, which the node mounts,
 * so that sizes are enforced and a new volume has its `lost+found`. Removes those whose claims are gone.
 */
export async function startDiskProvisioner({ kubeconfig, shared }: Kubernetes): Promise<DiskProvisioner> {
  if (shared === null) throw new Error('disks need a cluster on this machine');
  const storageClass = `disks-${randomUUID().slice(0, 8)}`;
  const client = createKubeClient(await kubeconfigAccess(kubeconfig));
  const folder = await temporaryFolder();
  await client.create({ ...CLASS, metadata: { name: storageClass }, provisioner: 'svc.test/disks' });
  const stop = new AbortController();
  const provisioner = new Provisioner(client, storageClass, shared.nodeProcess, folder);
  const running = provisioner.run(stop.signal);
  return {
    storageClass,
    volumes: () => provisioner.volumes(),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      for (const name of await provisioner.volumes()) await provisioner.remove(name);
      await client.delete({ ...CLASS, name: storageClass });
      client.close();
      await folder.remove();
    },
  };
}

class Provisioner {
  readonly #client: KubeClient;
  readonly #class: string;
  readonly #nodeProcess: number;
  readonly #folder: TemporaryFolder;

  constructor(client: KubeClient, storageClass: string, nodeProcess: number, folder: TemporaryFolder) {
    this.#client = client;
    this.#class = storageClass;
    this.#nodeProcess = nodeProcess;
    this.#folder = folder;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const claim of await this.#all(CLAIM)) {
        if (fieldAt(claim, 'spec', 'volumeName') === undefined) await this.#provide(claim);
      }
      for (const volume of await this.#all(VOLUME)) {
        if (fieldAt(volume, 'status', 'phase') === 'Released') await this.remove(volume.metadata.name);
      }
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async volumes(): Promise<readonly string[]> {
    return (await this.#all(VOLUME)).map(({ metadata }) => metadata.name);
  }

  async #all(kind: typeof CLAIM | typeof VOLUME): Promise<readonly KubeObject[]> {
    const found: KubeObject[] = [];
    for await (const { items } of this.#client.list(kind)) found.push(...items);
    const isOurs = (each: KubeObject): boolean =>
      fieldAt(each, 'spec', 'storageClassName') === this.#class && each.metadata.deletionTimestamp === undefined;
    return found.filter(isOurs);
  }

  async #provide(claim: KubeObject): Promise<void> {
    const { name, namespace = '', uid } = claim.metadata;
    const volume = `${this.#class}-${uid}`;
    const size = String(fieldAt(claim, 'spec', 'resources', 'requests', 'storage'));
    const path = join(this.#folder.path, volume);
    await mkdir(path, { recursive: true });
    await runCommand('truncate', ['-s', size.replace(/i$/, ''), `${path}.img`]);
    await runCommand('mkfs.ext4', ['-q', '-F', `${path}.img`]);
    await this.#onNode('mount', '-o', 'loop', `${path}.img`, path);
    const spec = {
      storageClassName: this.#class,
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path },
      claimRef: { ...CLAIM, name, namespace, uid },
    };
    await this.#client.create({ ...VOLUME, metadata: { name: volume }, spec });
  }

  async remove(volume: string): Promise<void> {
    const path = join(this.#folder.path, volume);
    await this.#onNode('umount', '--lazy', path);
    await rm(`${path}.img`);
    await this.#client.delete({ ...VOLUME, name: volume });
  }

  async #onNode(...command: readonly string[]): Promise<void> {
    await runCommand('nsenter', ['--target', String(this.#nodeProcess), '--mount', '--pid', '--', ...command]);
  }
}
