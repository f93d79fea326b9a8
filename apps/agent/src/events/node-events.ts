import { fieldAt, type KubeObject } from '@svc/kube';
import { findCondition } from '@svc/kube/values';
import { detailsOf, type ClusterEvent } from './cluster-event.ts';

/** The in-memory part of a node. */
export interface KeptNode {
  name: string;
  ready: boolean;
}

export function lookAtNode(
  node: KubeObject,
  before: KeptNode | null,
  initial: boolean,
): { kept: KeptNode; events: ClusterEvent[] } {
  const { name } = node.metadata;
  const condition = findCondition(node, 'Ready');
  const ready = condition?.['status'] === 'True';
  const events: ClusterEvent[] = [];
  const emit = (type: ClusterEvent['type'], details: Record<string, string | undefined>): void => {
    if (!initial) events.push({ type, namespace: '', resource: `node/${name}`, details: detailsOf(details) });
  };
  if (before === null) emit('node_added', { version: text(fieldAt(node, 'status', 'nodeInfo', 'kubeletVersion')) });
  if (ready && before?.ready !== true) emit('node_ready', {});
  if (!ready && before?.ready === true) {
    emit('node_not_ready', { reason: text(condition?.['reason']), message: text(condition?.['message']) });
  }
  return { kept: { name, ready }, events };
}

export function nodeGone({ name }: KeptNode): ClusterEvent {
  return { type: 'node_removed', namespace: '', resource: `node/${name}`, details: {} };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
