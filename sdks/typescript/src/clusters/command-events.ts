import { UnexpectedAnswerError } from '../errors.ts';
import { fromBase64 } from '../sandboxes/base64.ts';
import type { CallOptions } from '../transport.ts';
import type { ClusterScope } from './cluster-scope.ts';
import { followServerEvents } from './follow-events.ts';

/** An event of a deployment or another command; `result` is the last one. */
export type CommandEvent<Result> =
  | { type: 'state'; status: string; timestamp: string }
  | { type: 'progress'; phase: string; message: string; counts: Readonly<Record<string, number>>; timestamp: string }
  | { type: 'output'; stream: 'stdout' | 'stderr'; bytes: Uint8Array; timestamp: string }
  | { type: 'result'; result: Result };

/** Streams a command's events from its beginning to its result. Resumes if the connection is lost. */
export async function* followCommand<Result>(
  scope: ClusterScope,
  path: string,
  options: CallOptions,
): AsyncGenerator<CommandEvent<Result>, void> {
  for await (const { event, data } of followServerEvents(scope, { path, after: null, ...options })) {
    const parsed = JSON.parse(data) as Record<string, unknown>; // each event of this route is an object
    if (event === 'result') {
      yield { type: 'result', result: parsed as Result }; // the same body as the command's own route
      return;
    }
    const known = parseEvent(event, parsed);
    if (known !== null) yield known;
  }
}

/** Reads all events and returns the result. */
export async function resultOfCommand<Result>(
  events: AsyncGenerator<CommandEvent<Result>, void>,
  onEvent: (event: CommandEvent<Result>) => void | Promise<void>,
): Promise<Result> {
  for await (const event of events) {
    await onEvent(event);
    if (event.type === 'result') return event.result;
  }
  throw new UnexpectedAnswerError('The command has no result');
}

/** Returns null for event types of a later platform version. */
function parseEvent(type: string, data: Record<string, unknown>): CommandEvent<never> | null {
  const timestamp = text(data['timestamp']);
  switch (type) {
    case 'state':
      return { type, status: text(data['status']), timestamp };
    case 'progress':
      return {
        type,
        phase: text(data['phase']),
        message: text(data['message']),
        counts: parseCounts(data['counts']),
        timestamp,
      };
    case 'output': {
      const content = text(data['data']);
      const bytes = data['encoding'] === 'base64' ? fromBase64(content) : new TextEncoder().encode(content);
      return { type, stream: data['stream'] === 'stderr' ? 'stderr' : 'stdout', bytes, timestamp };
    }
    default:
      return null;
  }
}

/** Counters such as `applied` and `total`; empty if the agent reports none. */
function parseCounts(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, count]) => typeof count === 'number'));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
