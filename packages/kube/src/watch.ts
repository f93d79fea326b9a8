import type { IncomingMessage } from 'node:http';
import { assertAccepted, createStatusError } from './answers.ts';
import { kubeErrors } from './errors.ts';
import { readLines } from './lines.ts';
import { isRecord } from './fields.ts';
import type { KubeObject } from './objects.ts';
import type { KubeRequest, Transport } from './transport.ts';

/** An event of a watch. */
export type WatchEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject }
  /** All changes up to this version were seen; carries no object. */
  | { type: 'BOOKMARK'; resourceVersion: string };

const MAX_EVENT_SIZE_BYTES = 8 * 1024 * 1024;

/**
 * Runs one watch until the server ends it (after `timeoutSeconds`), the signal aborts, or it is silent for
 * `idleTimeoutMs`. An expired version throws a `KubernetesStatusError` with status 410: list again.
 */
export async function* streamEvents(
  transport: Transport,
  request: KubeRequest,
  idleTimeoutMs: number,
): AsyncGenerator<WatchEvent> {
  const response = await transport.send(request);
  await assertAccepted(response);
  const watchdog = startWatchdog(response, idleTimeoutMs);
  try {
    for await (const line of readLines(watchdog.chunks(), MAX_EVENT_SIZE_BYTES)) {
      if (line.length > 0) yield parseEvent(line);
    }
  } catch (error) {
    if (request.signal?.aborted === true) return; // the reader left: an end, not a failure
    throw watchdog.fired() ? kubeErrors.WATCH_IDLE({ details: { idle_ms: idleTimeoutMs } }) : connectionError(error);
  } finally {
    watchdog.stop();
    response.destroy();
  }
}

interface Watchdog {
  chunks(): AsyncGenerator<Buffer>;
  fired(): boolean;
  stop(): void;
}

/** Any byte counts as a sign of life. TCP keep-alive detects a dead peer; this detects a silent proxy. */
function startWatchdog(response: IncomingMessage, idleTimeoutMs: number): Watchdog {
  let fired = false;
  const timer = setTimeout(() => {
    fired = true;
    response.destroy(new Error('idle'));
  }, idleTimeoutMs);
  return {
    fired: () => fired,
    stop: () => clearTimeout(timer),
    chunks: async function* chunks() {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        timer.refresh();
        yield chunk;
      }
    },
  };
}

function parseEvent(line: string): WatchEvent {
  const event = parsed(line);
  const object = event['object'];
  if (!isRecord(object)) throw invalid('a watch event has no object');
  switch (event['type']) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event['type'], object: object as KubeObject }; // the API server follows the kind's schema
    case 'BOOKMARK': {
      const metadata = object['metadata'];
      const resourceVersion = isRecord(metadata) ? metadata['resourceVersion'] : undefined;
      return { type: 'BOOKMARK', resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '' };
    }
    case 'ERROR':
      throw createStatusError(object);
    default:
      throw invalid('a watch event has an unknown type');
  }
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch (cause) {
    throw kubeErrors.KUBERNETES_ANSWER_INVALID({ details: { reason: 'a watch event is not JSON' }, cause });
  }
  throw invalid('a watch event is not an object');
}

function invalid(reason: string): Error {
  return kubeErrors.KUBERNETES_ANSWER_INVALID({ details: { reason } });
}

function connectionError(error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') {
    return kubeErrors.KUBERNETES_UNREACHABLE({ details: { reason: 'the watch was cut' }, cause: error });
  }
  return error;
}
