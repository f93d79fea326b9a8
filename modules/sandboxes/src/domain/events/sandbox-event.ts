import type { Sandbox, SandboxChange } from '../sandbox.ts';

export const EVENT_TYPES = [
  'created',
  'running',
  'stopped',
  'error',
  'paused',
  'resumed',
  'deleted',
  'snapshot_created',
  'oom_killed',
  'terminal_opened',
  'terminal_closed',
  'egress_refused',
  'draining',
  'snapshot_failed',
  'restored',
  'moved',
] as const;

export type SandboxEventType = (typeof EVENT_TYPES)[number];

/**
 * What a version from before migration 0143 reads instead of a type that it does not know: such a replica may run beside
 * this one, and fails on unknown types.
 */
export const OLDER_TYPES: Readonly<Partial<Record<SandboxEventType, SandboxEventType>>> = {
  draining: 'stopped',
  snapshot_failed: 'error',
  restored: 'stopped',
  moved: 'stopped',
};

export type EventDetails = Readonly<Record<string, string | number | boolean | null>>;

export interface NewSandboxEvent {
  readonly type: SandboxEventType;
  readonly details: EventDetails;
}

export interface SandboxEvent extends NewSandboxEvent {
  readonly workspaceUuid: string;
  /** Increases by one with each event of the workspace. */
  readonly sequence: number;
  readonly sandboxId: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
}

/** Maps a record change to events; most changes cause none. */
export function eventsOfChange(change: SandboxChange, { fault, stateReason }: Sandbox): NewSandboxEvent[] {
  switch (change.status) {
    case 'running':
      return [{ type: 'running', details: {} }];
    case 'stopped':
      return [{ type: 'stopped', details: { reason: stateReason } }];
    case 'error': {
      const code = fault?.code ?? stateReason;
      const failed: NewSandboxEvent = { type: 'error', details: { code, message: fault?.message ?? null } };
      return code === 'OOM_KILLED' ? [{ type: 'oom_killed', details: { scope: 'sandbox' } }, failed] : [failed];
    }
    case 'creating':
      return []; // the outcome is reported instead
    default:
      if (change.pausedAt === undefined) return [];
      return [{ type: change.pausedAt === null ? 'resumed' : 'paused', details: {} }];
  }
}
