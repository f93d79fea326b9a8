import type { Sandbox } from '../../../api/sandbox-types.ts';
import type { Tone } from '../../../ui/badge.tsx';

export interface StatusLabel {
  label: string;
  tone: Tone;
  live: boolean;
}

export function statusLabel({ status, paused_at: pausedAt }: Sandbox): StatusLabel {
  if (status === 'running' && pausedAt !== null) return { label: 'Paused', tone: 'accent', live: false };
  switch (status) {
    case 'creating':
      return { label: 'Starting', tone: 'warn', live: true };
    case 'running':
      return { label: 'Running', tone: 'ok', live: true };
    case 'stopped':
      return { label: 'Stopped', tone: 'neutral', live: false };
    case 'error':
      return { label: 'Error', tone: 'danger', live: false };
  }
}

/** Whether its terminal and files can be used without changing its state. */
export function isAwake({ status, paused_at: pausedAt }: Sandbox): boolean {
  return status === 'running' && pausedAt === null;
}

const TITLES: Readonly<Record<string, string>> = {
  IMAGE_PULL_FAILED: 'The image could not be prepared',
  ROOTFS_FAILED: 'The file system could not be created',
  RUNTIME_FAILED: 'The sandbox could not be started',
  AGENT_TIMEOUT: 'The sandbox did not become ready in time',
  DISK_FULL: 'The disk is full',
  NODE_LOST: 'The host was lost',
  CLUSTER_OFFLINE: 'The cluster cannot be reached',
  CLUSTER_REMOVED: 'The cluster was removed',
  RESTORE_FAILED: 'The sandbox could not be restored',
  INIT_CRASHED: 'The init process exited',
  OOM_KILLED: 'The sandbox ran out of memory',
  NO_CAPACITY: 'Not enough capacity',
};

const REMEDIES: Readonly<Record<string, string>> = {
  IMAGE_PULL_FAILED: 'Check that the registry is reachable and the image exists, then restart the sandbox.',
  ROOTFS_FAILED: 'Free disk space on the host, then restart the sandbox.',
  RUNTIME_FAILED: 'Check the platform log for details. A restart may help.',
  AGENT_TIMEOUT: 'The host may be busy. Restart the sandbox in a moment.',
  DISK_FULL: 'Delete unneeded files, or create a sandbox with a larger disk.',
  NODE_LOST: 'The host restarted or does not respond. Once it is back, start the sandbox. Its files are kept.',
  CLUSTER_OFFLINE: 'The sandbox continues if it still runs when the agent of its cluster is connected again.',
  CLUSTER_REMOVED: 'Delete it and create a new one.',
  RESTORE_FAILED: 'Start it to restore it from its newest snapshot again, or create a new one from that snapshot.',
  INIT_CRASHED: 'Restart the sandbox. Its files are kept.',
  OOM_KILLED: 'Restart the sandbox, or create one with more memory. Its files are kept.',
  NO_CAPACITY: 'Stop or delete an unused sandbox, then restart this one.',
};

/** Describes an error and its remedy. */
export function describeFault({ code, recoverable }: NonNullable<Sandbox['error']>): { title: string; remedy: string } {
  const fallback = recoverable ? 'Restart the sandbox. Its files are kept.' : 'Delete it and create a new one.';
  return { title: TITLES[code] ?? 'The sandbox failed', remedy: REMEDIES[code] ?? fallback };
}

const REASONS: Readonly<Record<string, string>> = {
  STOPPED_BY_USER: 'Stopped by a user',
  IDLE_TIMEOUT: 'Stopped after being idle',
  EXITED: 'The main process exited',
  NODE_DRAINED: 'Its node was drained',
  CLUSTER_RIGHT_REVOKED: 'Its creator may no longer use its cluster',
  NODE_MOVING: 'Moving to another node',
  NODE_DRAINING: 'Its node is being drained',
};

/** Why it is stopped, if the platform gives a reason. */
export function reasonLabel(reason: string | null): string | null {
  if (reason === null) return null;
  return REASONS[reason] ?? null;
}
