import { isStatusError, type KubeClient, type KubeObject } from '@svc/kube';
import { fieldAt, textAt } from '@svc/kube/values';
import { pause, type Clock } from '@svc/runtime';
import { Type, type Static } from 'typebox';
import { Check } from 'typebox/schema';
import type { SandboxSpec } from '../../../domain/driver.ts';
import {
  CLAIM,
  DISK_ANNOTATION,
  DISK_FOLDER,
  FIELD_MANAGER,
  MAX_DISK_FOLDERS,
  metadataText,
  OWNER_LABEL,
  podName,
  SANDBOX_LABEL,
  selectOwner,
  STATE_ANNOTATION,
  type DiskState,
} from './names.ts';
import type { PodView } from './pod-view.ts';

/** A claim that is being deleted is looked at again after this time. */
const LOOK_AGAIN_MS = 250;
const WORDS_LIMIT_MS = 5000;
const MAX_WORDS = 500;
const MAX_ANNOTATION = 16_384;
/** Reasons of events that say only that the claim waits for its pod. */
const WAITING_REASONS: ReadonlySet<string> = new Set(['WaitForFirstConsumer', 'WaitForPodScheduled']);
const MOUNT_FAILURES: ReadonlySet<string> = new Set(['FailedMount', 'FailedAttachVolume', 'FailedMapVolume']);

const folder = Type.String({ pattern: DISK_FOLDER });
const count = Type.Integer({ minimum: 0 });

/** What the pod of a sandbox is made of, without its creator's request: the cluster may not be trusted. */
const contentSchema = Type.Object({
  hostname: Type.String({ maxLength: 253 }),
  image: Type.String({ maxLength: 512 }),
  /** OCI reference of the image that the files came from; null: the platform serves it. */
  reference: Type.Union([Type.String({ maxLength: 1024 }), Type.Null()]),
  template: Type.Union([
    Type.Object({ digest: Type.String(), buildId: Type.Union([Type.String(), Type.Null()]) }),
    Type.Null(),
  ]),
  isolation: Type.Union([Type.Literal('namespaces'), Type.Literal('gvisor')]),
  resources: Type.Object({ cpuMillis: count, memoryMb: count, diskMb: count, pids: count }),
  /** Folders in the root that it has; null until they are known. */
  folders: Type.Union([Type.Array(folder, { maxItems: MAX_DISK_FOLDERS }), Type.Null()]),
});
type DiskContent = Static<typeof contentSchema>;

/** The claim of a sandbox. */
export interface Disk {
  readonly name: string;
  readonly uid: string;
  /** It has all of the sandbox's first files. */
  readonly isCreated: boolean;
  readonly content: DiskContent;
}

export interface PodDisksOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly owner: string;
  readonly storageClass: string | null;
  /** The most claims that the cluster may report, if it is not trusted. */
  readonly maxPods?: number;
  readonly clock: Clock;
}

/** Finds out whether sandboxes have disks; null if none has. Throws a readable error if they are to have and cannot. */
export async function openDisks(options: PodDisksOptions, signal: AbortSignal): Promise<PodDisks | null> {
  const { client, storageClass } = options;
  const disks = new PodDisks(options);
  if (storageClass === null) {
    // Those made while there was a class keep theirs.
    const found = await disks.list(signal).catch((error: unknown) => {
      if (isStatusError(error, 403)) return []; // an account without disks needs no right to them
      throw error;
    });
    return found.length === 0 ? null : disks;
  }
  await disks.list(signal);
  const kind = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', name: storageClass };
  const hasClass = await client.get(kind, signal).then(
    (found) => found !== null,
    (error: unknown) => {
      if (isStatusError(error, 403)) return true; // classes have no namespace, so that an account may not see them
      throw error;
    },
  );
  if (!hasClass) throw new Error(`the cluster has no StorageClass ${storageClass}`);
  return disks;
}

/**
 * The disks of sandboxes: one persistent volume claim each, which outlives its pods. Its annotations are the record of what the
 * sandbox is made of, and of whether its first files are complete.
 */
export class PodDisks {
  readonly #options: PodDisksOptions;

  constructor(options: PodDisksOptions) {
    this.#options = options;
  }

  /** Whether new sandboxes get a disk. */
  get makesNew(): boolean {
    return this.#options.storageClass !== null;
  }

  /** Null also while it is being deleted. */
  async find(name: string, signal: AbortSignal): Promise<Disk | null> {
    const claim = await this.#get(name, signal);
    return claim === null || claim.metadata.deletionTimestamp !== undefined ? null : toDisk(claim);
  }

  /** The size is that of the sandbox's disk. `reference` is that of its image, or null if the platform serves it. */
  async create(spec: SandboxSpec, reference: string | null, signal: AbortSignal): Promise<Disk> {
    const { client, namespace, owner, storageClass } = this.#options;
    const name = podName(owner, spec.id);
    const content = contentOf(spec, reference);
    const claim: KubeObject = {
      ...CLAIM,
      metadata: {
        name,
        namespace,
        labels: { [OWNER_LABEL]: owner, [SANDBOX_LABEL]: spec.id },
        annotations: annotations('filling', content),
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: storageClass,
        resources: { requests: { storage: `${spec.resources.diskMb}Mi` } },
      },
    };
    await this.#awaitGone(name, signal);
    return toDisk(await client.create(claim, signal));
  }

  /** Records that it has all of its files, in these folders. */
  async markCreated(disk: Disk, folders: readonly string[], signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#options;
    const { name, uid, content } = disk;
    const changed = annotations('created', { ...content, folders: [...folders] });
    const claim = { ...CLAIM, metadata: { name, namespace, uid, annotations: changed } };
    await client.apply(claim, { fieldManager: FIELD_MANAGER, force: true, signal });
  }

  /** It goes once no pod uses it. Does nothing if there is none. */
  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.#options.client.delete({ ...CLAIM, name, namespace: this.#options.namespace }, { signal });
  }

  /** Ids of the sandboxes that have one. */
  async list(signal: AbortSignal): Promise<readonly string[]> {
    const { client, namespace, owner, maxPods = Number.POSITIVE_INFINITY } = this.#options;
    const ids: string[] = [];
    const options = { namespace, labelSelector: selectOwner(owner), metadataOnly: true, signal };
    for await (const { items } of client.list(CLAIM, options)) {
      for (const claim of items) {
        const id = metadataText(claim, 'labels', SANDBOX_LABEL);
        if (id !== null && claim.metadata.deletionTimestamp === undefined) ids.push(id);
      }
      if (ids.length > maxPods) throw new Error(`the cluster reports more than ${maxPods} claims`);
    }
    return ids;
  }

  /** Why the pod of a sandbox waits for its disk, in the words of the cluster; null if it does not, or nothing is known. */
  async whyLate(name: string, pod: PodView | null): Promise<string | null> {
    const signal = AbortSignal.timeout(WORDS_LIMIT_MS);
    const claim = await this.#get(name, signal).catch(() => undefined); // the API server may be what is late
    if (claim === undefined) return null;
    if (claim === null) return 'its claim was deleted';
    const { uid = '' } = claim.metadata;
    if (textAt(claim, 'status', 'phase') === 'Bound') {
      const words = await this.#lastWords(name, pod?.uid ?? '', (reason) => MOUNT_FAILURES.has(reason), signal);
      return words === null ? null : `its disk cannot be mounted: ${words}`;
    }
    const words = await this.#lastWords(name, uid, (reason) => !WAITING_REASONS.has(reason), signal);
    if (words === null && pod?.pending?.kind === 'room') return null; // it waits for a node, in the words of the pod
    return `its claim ${name} has no volume yet${words === null ? '' : `: ${words}`}`;
  }

  /** Of the claim and its pod, which have one name. The right to read events may be missing. */
  async #lastWords(
    name: string,
    uid: string,
    isWanted: (reason: string) => boolean,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { client, namespace } = this.#options;
    const options = { namespace, fieldSelector: `involvedObject.name=${name}`, signal };
    let last = { words: null as string | null, at: '' };
    try {
      for await (const { items } of client.list({ apiVersion: 'v1', kind: 'Event' }, options)) {
        for (const event of items) {
          const reason = textAt(event, 'reason') ?? '';
          if (fieldAt(event, 'involvedObject', 'uid') !== uid || !isWanted(reason)) continue;
          const at = textAt(event, 'lastTimestamp') ?? textAt(event, 'eventTime') ?? '';
          const words = `${reason}: ${textAt(event, 'message') ?? ''}`.slice(0, MAX_WORDS);
          if (last.words === null || at >= last.at) last = { words, at };
        }
      }
    } catch {
      return null;
    }
    return last.words;
  }

  /** The name is free again once the claim of a deleted sandbox is gone. */
  async #awaitGone(name: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const claim = await this.#get(name, signal);
      if (claim?.metadata.deletionTimestamp === undefined) return;
      await pause(this.#options.clock, LOOK_AGAIN_MS, signal);
    }
  }

  #get(name: string, signal: AbortSignal): Promise<KubeObject | null> {
    return this.#options.client.get({ ...CLAIM, name, namespace: this.#options.namespace }, signal);
  }
}

/** What a pod without a request of its own needs, for instance to copy the files of a stopped sandbox. */
export function specOf(id: string, { content }: Disk): SandboxSpec {
  const { hostname, image, template, isolation, resources } = content;
  const whole = template && { ...template, user: null, workingFolder: null, startCommand: null };
  return { id, hostname, image, template: whole, isolation, resources, network: 'none' };
}

function contentOf(spec: SandboxSpec, reference: string | null): DiskContent {
  const { hostname, image, template = null, isolation } = spec;
  const { cpuMillis, memoryMb, diskMb, pids } = spec.resources;
  return {
    hostname,
    image,
    reference,
    template: template && { digest: template.digest, buildId: template.buildId },
    isolation,
    resources: { cpuMillis, memoryMb, diskMb, pids },
    folders: null,
  };
}

function annotations(state: DiskState, content: DiskContent): Record<string, string> {
  return { [STATE_ANNOTATION]: state, [DISK_ANNOTATION]: JSON.stringify(content) };
}

/** Throws a readable error if somebody else has changed its annotations. */
function toDisk(claim: KubeObject): Disk {
  const { name, uid } = claim.metadata;
  const content = parsed(metadataText(claim, 'annotations', DISK_ANNOTATION) ?? '');
  if (typeof uid !== 'string' || !Check(contentSchema, content)) {
    throw new Error(`the claim ${name} does not say what its sandbox is made of`);
  }
  return { name, uid, content, isCreated: metadataText(claim, 'annotations', STATE_ANNOTATION) === 'created' };
}

function parsed(text: string): unknown {
  try {
    return text.length > MAX_ANNOTATION ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
