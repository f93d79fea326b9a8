import type { NodeWork, PlatformNode } from '@svc/sdk';
import type { Tone } from '../../ui/badge.tsx';
import { formatBytes } from '../../ui/format-bytes.ts';
import { formatCount } from '../../ui/format-number.ts';

/** The hostname, which people know, or else the id. */
export function nodeName({ id, replica }: Pick<PlatformNode, 'id' | 'replica'>): string {
  return replica?.host ?? id;
}

export function nodeState({ replica, drain }: Pick<PlatformNode, 'replica' | 'drain'>): { label: string; tone: Tone } {
  if (replica?.live !== true) return { label: 'Down', tone: 'danger' };
  if (drain === null) return { label: 'Up', tone: 'ok' };
  if (drain.state === 'drained' && drain.unarchived > 0) {
    return { label: `Drained, ${formatCount(drain.unarchived)} not archived`, tone: 'warn' };
  }
  return drain.state === 'drained'
    ? { label: 'Drained', tone: 'neutral' }
    : { label: `Draining, ${formatCount(drain.remaining + drain.archiving)} left`, tone: 'warn' };
}

/** Such as `3 of 5 running`. */
export function runningText({ running, total }: { running: number; total: number }): string {
  return `${formatCount(running)} of ${formatCount(total)} running`;
}

/** Free memory and disk of the machine; null if its sandboxes run elsewhere. */
export function roomText(sandboxes: PlatformNode['sandboxes']): string | null {
  if (sandboxes === null || sandboxes.room === null) return null;
  const { free_memory_bytes: memory, free_disk_bytes: disk } = sandboxes.room;
  return `${formatBytes(memory)} memory, ${formatBytes(disk)} disk`;
}

/** What the running sandboxes may use, such as `4 CPUs, 2 GiB granted`. */
export function grantedText({
  used_cpus: cpus,
  used_memory_mb: memory,
}: NonNullable<PlatformNode['sandboxes']>): string {
  return `${cpus} CPUs, ${formatBytes(memory * 1024 ** 2)} granted`;
}

/** The remaining lease, such as `lease 8 s`; null if it has ended. */
export function leaseText(replica: PlatformNode['replica']): string | null {
  return replica?.live === true ? `lease ${Math.ceil(replica.lease_left_ms / 1000)} s` : null;
}

/** The background work that a node does now, such as `lifecycle, usage`; null for none. */
export function workText(id: string, work: readonly NodeWork[]): string | null {
  const names = work.flatMap(({ name, node }) => (node === id ? [name] : []));
  return names.length === 0 ? null : names.join(', ');
}
