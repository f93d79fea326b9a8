import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { EventLog } from '../../domain/events/event-log.ts';
import { newestFirst, oldestFirst } from '../../domain/events/event-pages.ts';
import type { SandboxEvent, SandboxEventType } from '../../domain/events/sandbox-event.ts';
import type { SandboxService } from '../../domain/sandbox-service.ts';
import { findAny } from './sandbox-finder.ts';
import { e2bIdParams } from './sandbox-routes.ts';

const MAX_ENTRIES = 1000;
const MAX_TIMESTAMP_MS = 253_402_300_799_999;
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** Clients filter by it. */
const LOGGER = 'svc';

type Level = (typeof LEVELS)[number];

const MESSAGES: Readonly<Record<SandboxEventType, string>> = {
  created: 'The sandbox was created',
  running: 'The sandbox is running',
  stopped: 'The sandbox stopped',
  error: 'The sandbox failed',
  paused: 'The sandbox was paused',
  resumed: 'The sandbox was resumed',
  deleted: 'The sandbox was deleted',
  snapshot_created: 'A snapshot was created',
  oom_killed: 'A process was killed because memory ran out',
  terminal_opened: 'A terminal was opened',
  terminal_closed: 'A terminal was closed',
  egress_refused: 'A connection to a host outside of the allowlist was refused',
  draining: 'The node of the sandbox is being drained',
  snapshot_failed: 'A snapshot failed',
  restored: 'The sandbox was restored on another node',
  moved: 'The sandbox was moved to another node',
};

const SEVERITIES: Readonly<Partial<Record<SandboxEventType, Level>>> = {
  error: 'error',
  oom_killed: 'error',
  snapshot_failed: 'error',
  egress_refused: 'warn',
  draining: 'warn',
};

const milliseconds = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_TIMESTAMP_MS }));
const limit = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_ENTRIES }));
const olderQuery = Type.Object({ start: milliseconds, limit });
const query = Type.Object({
  cursor: milliseconds,
  limit,
  direction: Type.Optional(Type.Union([Type.Literal('forward'), Type.Literal('backward')])),
  level: Type.Optional(Type.Enum([...LEVELS])),
  search: Type.Optional(Type.String({ maxLength: 256 })),
});

/** A line of the log. */
interface LogEntry {
  readonly timestamp: string;
  readonly level: Level;
  readonly message: string;
  readonly fields: Readonly<Record<string, string>>;
}

interface LogQuery {
  /** With `backward`, the end; otherwise the beginning. */
  readonly cursorMs: number | undefined;
  readonly limit: number;
  readonly isBackward: boolean;
  readonly minimum: Level;
  readonly search: string;
}

export interface LogRouteDeps {
  readonly prefix: string;
  readonly service: SandboxService;
  readonly eventLog: EventLog;
}

/** The log of a sandbox: its events. What its commands print is only sent to their own clients. */
export function registerLogRoutes(app: HttpApp, { prefix, service, eventLog }: LogRouteDeps): void {
  const read = async (workspaceUuid: string, id: string, wanted: LogQuery): Promise<LogEntry[]> => {
    const { id: sandboxId } = await findAny(service, workspaceUuid, id);
    return readEntries(eventLog, { workspaceUuid, sandboxId }, wanted);
  };
  const config = { action: 'sandbox:read', anyNode: true } as const;
  app.get(
    `${prefix}/v2/sandboxes/:id/logs`,
    { config, schema: { hide: true, params: e2bIdParams, querystring: query } },
    async (request) => {
      const { cursor: cursorMs, limit: most = MAX_ENTRIES, direction, level = 'debug', search = '' } = request.query;
      const wanted = { cursorMs, limit: most, isBackward: direction === 'backward', minimum: level, search };
      return { logs: await read(grantOf(request).workspaceUuid, request.params.id, wanted) };
    },
  );
  app.get(
    `${prefix}/sandboxes/:id/logs`,
    { config, schema: { hide: true, params: e2bIdParams, querystring: olderQuery } },
    async (request) => {
      const { start: cursorMs, limit: most = MAX_ENTRIES } = request.query;
      const wanted: LogQuery = { cursorMs, limit: most, isBackward: false, minimum: 'debug', search: '' };
      const logEntries = await read(grantOf(request).workspaceUuid, request.params.id, wanted);
      return { logs: logEntries.map(toLineView), logEntries };
    },
  );
}

async function readEntries(
  log: EventLog,
  scope: { readonly workspaceUuid: string; readonly sandboxId: string },
  { cursorMs, limit: most, isBackward, minimum, search }: LogQuery,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for await (const event of isBackward ? newestFirst(log, scope) : oldestFirst(log, scope)) {
    if (entries.length >= most) break;
    const atMs = Date.parse(event.at);
    if (cursorMs !== undefined && (isBackward ? atMs > cursorMs : atMs < cursorMs)) continue;
    const entry = describe(event);
    if (LEVELS.indexOf(entry.level) < LEVELS.indexOf(minimum) || !entry.message.includes(search)) continue;
    entries.push(entry);
  }
  return entries;
}

function describe({ type, at, details }: SandboxEvent): LogEntry {
  const known = Object.entries(details).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
  const subject = details['message'] ?? details['host'] ?? null;
  return {
    timestamp: at,
    level: SEVERITIES[type] ?? 'info',
    message: subject === null ? MESSAGES[type] : `${MESSAGES[type]}: ${subject}`,
    fields: { ...Object.fromEntries(known), type },
  };
}

/** Older clients read each line as JSON. */
function toLineView({ timestamp, level, message, fields }: LogEntry) {
  return { timestamp, line: JSON.stringify({ ...fields, logger: LOGGER, level, message }) };
}
