import type { Sandbox } from '../../../api/sandbox-types.ts';
import type { Tone } from '../../../ui/badge.tsx';

export interface StatusWords {
  word: string;
  tone: Tone;
  live: boolean;
}

export function statusWords({ status, paused_at: pausedAt }: Sandbox): StatusWords {
  if (status === 'running' && pausedAt !== null) return { word: 'Paused', tone: 'accent', live: false };
  switch (status) {
    case 'creating':
      return { word: 'Starting', tone: 'warn', live: true };
    case 'running':
      return { word: 'Running', tone: 'ok', live: true };
    case 'stopped':
      return { word: 'Stopped', tone: 'neutral', live: false };
    case 'error':
      return { word: 'Error', tone: 'danger', live: false };
  }
}

const TITLES: Readonly<Record<string, string>> = {
  IMAGE_PULL_FAILED: 'Its image could not be prepared',
  ROOTFS_FAILED: 'Its file system could not be made',
  RUNTIME_FAILED: 'It could not be started',
  AGENT_TIMEOUT: 'It did not get ready in time',
  DISK_FULL: 'The disk is full',
  NODE_LOST: 'The machine lost it',
  INIT_CRASHED: 'Its first process ended',
  OOM_KILLED: 'It ran out of memory',
  NO_CAPACITY: 'There was no room for it',
};

const REMEDIES: Readonly<Record<string, string>> = {
  IMAGE_PULL_FAILED: 'Check that the registry can be reached and that the image is there, then start it again.',
  ROOTFS_FAILED: 'Free some disk on the machine, then start it again.',
  RUNTIME_FAILED: 'The log of the platform says more. Starting it again may help.',
  AGENT_TIMEOUT: 'The machine may be busy. Start it again in a moment.',
  DISK_FULL: 'Delete what is not needed, or make a sandbox with a larger disk. Its files are kept.',
  NODE_LOST: 'The machine was started anew. Start it again: its files are kept.',
  INIT_CRASHED: 'Start it again: its files are kept.',
  OOM_KILLED: 'Make a sandbox with more memory, or start this one again: its files are kept.',
  NO_CAPACITY: 'Stop or delete a sandbox that is not used, then start this one again.',
};

/** A cause in words, with what can be done. */
export function faultWords({ code, recoverable }: NonNullable<Sandbox['error']>): { title: string; remedy: string } {
  const fallback = recoverable ? 'Start it again: its files are kept.' : 'Delete it and make another one.';
  return { title: TITLES[code] ?? 'It failed', remedy: REMEDIES[code] ?? fallback };
}

const REASONS: Readonly<Record<string, string>> = {
  STOPPED_BY_USER: 'Somebody stopped it',
  IDLE_TIMEOUT: 'It was stopped because nobody used it',
  EXITED: 'Its first process ended',
};

/** Why it stands still, where the platform says so. */
export function reasonWords(reason: string | null): string | null {
  if (reason === null) return null;
  return REASONS[reason] ?? null;
}
