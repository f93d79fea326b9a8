import { PROTOCOL_LIMITS } from '@svc/protocol';
import { Type } from 'typebox';
import { clusterErrors } from '../errors.ts';

export const scopeQuery = {
  workspace_uuid: Type.Optional(Type.String({ description: "Default: the caller's workspace" })),
  team_uuid: Type.Optional(Type.String({ description: 'Team through which a member accesses the workspace' })),
};

export const pageQuery = {
  ...scopeQuery,
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  cursor: Type.Optional(Type.String({ maxLength: 512 })),
};

export const waitQuery = Type.Optional(
  Type.String({ maxLength: 16, description: 'How long to wait for the result, such as `30s` (at most 60s)' }),
);

export const clusterParams = Type.Object({
  cluster: Type.String({ maxLength: 128, description: 'Name or ID of the cluster' }),
});

export const clusterItemParams = Type.Object({
  cluster: Type.String({ maxLength: 128, description: 'Name or ID of the cluster' }),
  id: Type.String({ maxLength: 128 }),
});

export const nextCursor = Type.Union([Type.String(), Type.Null()]);

/** Limit for calls that become agent messages: the rate of one agent's channel suffices for one caller. */
export const COMMAND_RATE = {
  perMinute: PROTOCOL_LIMITS.messagesPerMinute,
  burst: PROTOCOL_LIMITS.messagesBurst,
  by: 'principal',
} as const;

const MAX_WAIT_MS = 60_000;

/** `30s`, `500ms`, `1m` or a plain number of seconds. */
export function parseWaitMs(wait: string | undefined): number {
  if (wait === undefined) return 0;
  const [, digits, unit] = /^(\d{1,6})(ms|s|m)?$/.exec(wait) ?? [];
  if (digits === undefined) {
    throw clusterErrors.INVALID_REQUEST({ details: { field: 'wait', reason: 'wait must be a duration such as 30s' } });
  }
  const factor = unit === 'ms' ? 1 : unit === 'm' ? 60_000 : 1000;
  return Math.min(Number(digits) * factor, MAX_WAIT_MS);
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,128}$/;

export function parseIdempotencyKey(headers: Record<string, unknown>): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw clusterErrors.INVALID_REQUEST({
    details: { field: 'Idempotency-Key', reason: 'Idempotency-Key must be 1 to 128 printable characters' },
  });
}
