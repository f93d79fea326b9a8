import { fieldAt, isRecord, type KubeClient, type KubeObject } from '@svc/kube';
import { hasCondition } from '@svc/kube/values';
import { controllerReason, waitingReason } from './object-health.ts';

interface Asked {
  client: KubeClient;
  signal: AbortSignal;
}

const MAX_PODS = 20;
const MAX_EVENTS = 50;

/**
 * Why a workload is not ready: a container that cannot run, else the last warning about a pod that is not ready (a
 * failing probe), else why it has no pods. Null if the cluster gives no reason.
 */
export async function notReadyReason(asked: Asked, object: KubeObject): Promise<string | null> {
  const pods = await listPods(asked, object);
  for (const pod of pods) {
    const reason = waitingReason(pod);
    if (reason !== null) return `pod ${pod.metadata.name}: ${reason}`;
  }
  const [unready] = pods.filter((pod) => fieldAt(pod, 'status', 'phase') === 'Running' && !hasCondition(pod, 'Ready'));
  if (unready !== undefined) {
    return `pod ${unready.metadata.name}: ${(await lastWarning(asked, unready)) ?? 'runs and is not ready'}`;
  }
  return controllerReason(object) ?? (await lastWarning(asked, object));
}

async function listPods({ client, signal }: Asked, object: KubeObject): Promise<KubeObject[]> {
  const selector = fieldAt(object, 'spec', 'selector', 'matchLabels');
  const { namespace } = object.metadata;
  if (!isRecord(selector) || namespace === undefined) return [];
  const labelSelector = Object.entries(selector)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(',');
  const pages = client.list(
    { apiVersion: 'v1', kind: 'Pod' },
    { namespace, labelSelector, pageSize: MAX_PODS, signal },
  );
  for await (const { items } of pages) return items.filter((pod) => fieldAt(pod, 'status', 'phase') !== 'Succeeded');
  return [];
}

/** Considers only events about this object, not those of an earlier one with the same name. */
async function lastWarning({ client, signal }: Asked, { metadata }: KubeObject): Promise<string | null> {
  const { uid, namespace } = metadata;
  if (uid === undefined || namespace === undefined) return null;
  const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
  const options = { namespace, fieldSelector, pageSize: MAX_EVENTS, signal };
  for await (const { items } of client.list({ apiVersion: 'v1', kind: 'Event' }, options)) {
    const [last] = items.toSorted((one, other) => timeOf(other).localeCompare(timeOf(one)));
    const message = fieldAt(last, 'message');
    return typeof message === 'string' && message !== '' ? message.slice(0, 500) : null;
  }
  return null;
}

function timeOf(event: KubeObject): string {
  const times = [fieldAt(event, 'lastTimestamp'), fieldAt(event, 'eventTime'), event.metadata.creationTimestamp];
  const [time] = times.filter((each) => typeof each === 'string');
  return time ?? '';
}
