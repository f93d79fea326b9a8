import { fieldAt, type KubeObject } from '@svc/kube';
import { findCondition, recordsAt, textAt } from '@svc/kube/values';
import {
  DISK_CONTAINER,
  DISK_FOLDER,
  DISK_VOLUME,
  HELPER_CONTAINER,
  MAX_DISK_FOLDERS,
  metadataText,
  OTHER_FOLDERS,
  SANDBOX_CONTAINER,
  SANDBOX_LABEL,
  STATE_ANNOTATION,
} from './names.ts';

/** What the driver keeps of a pod. */
export interface PodView {
  readonly name: string;
  readonly uid: string;
  /** Resource version. */
  readonly version: string;
  /** Null for a probe. */
  readonly sandboxId: string | null;
  /** The sandbox runs, if only paused; otherwise only its helper does. */
  readonly started: boolean;
  readonly paused: boolean;
  /** It does not have its files yet. */
  readonly filling: boolean;
  /** The main container runs. */
  readonly up: boolean;
  readonly deleting: boolean;
  /** Its files are on a claim, so that they outlive it. */
  readonly hasDisk: boolean;
  /** The folders that its disk has, if it mounts others; null if it does not. */
  readonly otherFolders: readonly string[] | null;
  readonly outOfMemory: boolean;
  /** Exit code of the main container; null while it has none. */
  readonly exitCode: number | null;
  /** Why the pod does not come up and will not by itself; null while it may. */
  readonly failure: PodTrouble | null;
  /** Why the pod has not come up yet; null if it has, or nothing is known. */
  readonly pending: PodTrouble | null;
}

/** What keeps a pod from running, in the words of the cluster: its image, no node with room, or anything else. */
export interface PodTrouble {
  readonly kind: 'image' | 'room' | 'pod';
  readonly reason: string;
}

/** Waiting reasons that a retry of the kubelet does not change. The first failed pull is still tried again. */
const IMAGE_FAILURES: ReadonlySet<string> = new Set(['ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull']);
const IMAGE_TROUBLES: ReadonlySet<string> = new Set([...IMAGE_FAILURES, 'ErrImagePull']);
/** The longest name of an object (RFC 1123 subdomain). */
const MAX_NAME = 253;
const MAX_REASON = 1000;
/** What a kubelet reports of a container's last words. */
const MAX_REPORT = 4096;
const FOLDER = new RegExp(DISK_FOLDER, 'u');
/** The helper ends with it when it does not know what is asked of it. */
const USAGE_ERROR = 2;
const CONTAINER_FAILURES: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Reads a pod. A field that is missing or has another type counts as not there. */
export function toPodView(pod: KubeObject): PodView {
  const containers = recordsAt(pod, 'status', 'containerStatuses');
  const main = containers.find(({ name }) => name === SANDBOX_CONTAINER) ?? containers[0];
  const exitCode = fieldAt(main, 'state', 'terminated', 'exitCode');
  const state = metadataText(pod, 'annotations', STATE_ANNOTATION);
  return {
    name: cut(pod.metadata.name, MAX_NAME),
    uid: cut(pod.metadata.uid ?? '', MAX_NAME),
    version: cut(pod.metadata.resourceVersion ?? '', MAX_NAME),
    sandboxId: cutOrNull(metadataText(pod, 'labels', SANDBOX_LABEL)),
    started: state === 'running' || state === 'paused',
    paused: state === 'paused',
    filling: state === 'filling',
    up: fieldAt(main, 'state', 'running') !== undefined && textAt(pod, 'status', 'phase') === 'Running',
    deleting: pod.metadata.deletionTimestamp !== undefined,
    hasDisk: recordsAt(pod, 'spec', 'volumes').some(({ name }) => name === DISK_VOLUME),
    otherFolders: otherFoldersOf(pod),
    outOfMemory: textAt(main, 'state', 'terminated', 'reason') === 'OOMKilled',
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    failure: bounded(failureOf(pod, main)),
    pending: bounded(pendingTrouble(pod)),
  };
}

/** A view is kept as long as its pod, and the cluster may not be trusted. */
function cut(text: unknown, length: number): string {
  if (typeof text !== 'string')
    throw new Error('the cluster reported a pod whose name, UID or version is not a string');
  return text.length > length ? Buffer.from(text.slice(0, length)).toString() : text; // a slice would keep all of the text
}

function cutOrNull(text: string | null): string | null {
  return text === null ? null : cut(text, MAX_NAME);
}

function bounded(trouble: PodTrouble | null): PodTrouble | null {
  return trouble === null ? null : { ...trouble, reason: cut(trouble.reason, MAX_REASON) };
}

/** Its helper runs and it has its files. */
export function isUp(pod: PodView): boolean {
  return pod.up && !pod.deleting && !pod.filling;
}

/** The sandbox runs, if only paused. */
export function isRunning(pod: PodView): boolean {
  return isUp(pod) && pod.started;
}

function failureOf(pod: KubeObject, main: unknown): PodTrouble | null {
  const phase = textAt(pod, 'status', 'phase');
  // The phase follows the end of the container with a delay.
  const hasEnded = fieldAt(main, 'state', 'terminated') !== undefined;
  if (hasEnded || phase === 'Failed' || phase === 'Succeeded') {
    // An evicted pod says why itself; otherwise a container does.
    const words = [textAt(pod, 'status', 'reason'), textAt(pod, 'status', 'message'), terminatedReason(pod)];
    const known = words.filter((each) => each !== null);
    return { kind: 'pod', reason: known.length === 0 ? 'its pod ended' : `its pod ended: ${known.join(': ')}` };
  }
  for (const status of statusesOf(pod)) {
    const reason = textAt(status, 'state', 'waiting', 'reason');
    if (reason === null) continue;
    if (IMAGE_FAILURES.has(reason)) return { kind: 'image', reason: waitingWords(status) };
    if (CONTAINER_FAILURES.has(reason)) return { kind: 'pod', reason: waitingWords(status) };
  }
  return null;
}

function otherFoldersOf(pod: KubeObject): readonly string[] | null {
  const disk = recordsAt(pod, 'status', 'initContainerStatuses').find(({ name }) => name === DISK_CONTAINER);
  if (fieldAt(disk, 'state', 'terminated', 'exitCode') !== OTHER_FOLDERS) return null;
  return parseFolders(textAt(disk, 'state', 'terminated', 'message') ?? '');
}

/** Reads a list of folders in a root. Returns null if it is none: it comes from the cluster. */
function parseFolders(text: string): readonly string[] | null {
  if (text.length > MAX_REPORT) return null;
  let names: unknown;
  try {
    names = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(names) || names.length > MAX_DISK_FOLDERS) return null;
  return names.every((name): name is string => typeof name === 'string' && FOLDER.test(name)) ? names : null;
}

function waitingWords(status: unknown): string {
  const waiting = fieldAt(status, 'state', 'waiting');
  return [textAt(waiting, 'reason'), textAt(waiting, 'message')].filter((each) => each !== null).join(': ');
}

function terminatedReason(pod: KubeObject): string | null {
  for (const status of statusesOf(pod)) {
    const exitCode = fieldAt(status, 'state', 'terminated', 'exitCode');
    if (typeof exitCode !== 'number' || exitCode === 0) continue;
    const name = textAt(status, 'name') ?? '';
    if ((name === HELPER_CONTAINER || name === DISK_CONTAINER) && exitCode === USAGE_ERROR) {
      return 'the helper image is of another version than the platform; name the image of this version';
    }
    const reason = textAt(status, 'state', 'terminated', 'reason') ?? 'Error';
    const message = name === DISK_CONTAINER ? textAt(status, 'state', 'terminated', 'message') : null;
    return `container ${name} ended with ${reason}, exit code ${exitCode}${message === null ? '' : `: ${message.trim()}`}`;
  }
  return null;
}

function pendingTrouble(pod: KubeObject): PodTrouble | null {
  const scheduled = findCondition(pod, 'PodScheduled');
  if (scheduled?.['status'] === 'False') {
    return { kind: 'room', reason: textAt(scheduled, 'message') ?? 'no node has room for its pod' };
  }
  for (const status of statusesOf(pod)) {
    const reason = textAt(status, 'state', 'waiting', 'reason');
    if (reason !== null) return { kind: IMAGE_TROUBLES.has(reason) ? 'image' : 'pod', reason: waitingWords(status) };
  }
  return null;
}

function statusesOf(pod: KubeObject): Record<string, unknown>[] {
  return [...recordsAt(pod, 'status', 'initContainerStatuses'), ...recordsAt(pod, 'status', 'containerStatuses')];
}
