import type { IncomingMessage } from 'node:http';
import { kubeErrors, KubernetesStatusError, type StatusCause } from './errors.ts';
import { isRecord } from './fields.ts';

/** A page of large objects stays below this; a larger response is a fault of the server. */
export const MAX_ANSWER_SIZE_BYTES = 64 * 1024 * 1024;
const BODY_TIMEOUT_MS = 60_000;

/** Reads a response as JSON; throws refusals as `KubernetesStatusError`. */
export async function readJson(response: IncomingMessage): Promise<Record<string, unknown>> {
  const text = await readText(response);
  const value = parsed(text);
  if (isRefusal(response)) throw statusError(response, value, text);
  if (!isRecord(value)) throw kubeErrors.KUBERNETES_ANSWER_INVALID({ details: { reason: 'the body is not JSON' } });
  return value;
}

/** Throws on a refusal; otherwise leaves the body for streaming. */
export async function assertAccepted(response: IncomingMessage, limitBytes = MAX_ANSWER_SIZE_BYTES): Promise<void> {
  if (!isRefusal(response)) return;
  const text = await readText(response, limitBytes);
  throw statusError(response, parsed(text), text);
}

/** Reads the whole body as text, bounded in size and time. */
export async function readText(response: IncomingMessage, limitBytes = MAX_ANSWER_SIZE_BYTES): Promise<string> {
  const timer = setTimeout(() => response.destroy(new Error('the body did not end in time')), BODY_TIMEOUT_MS);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) throw new Error(`the body is larger than ${limitBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'the body was cut';
    throw kubeErrors.KUBERNETES_UNREACHABLE({ details: { reason }, cause });
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the text of the API server's `Warning` headers (RFC 7234: `299 - "text"`), which are meant for users. */
export function parseWarnings(response: IncomingMessage): string[] {
  return (response.headersDistinct['warning'] ?? []).map((header) => {
    const quoted = /^\d{3} \S+ "((?:[^"\\]|\\.)*)"/.exec(header)?.[1];
    return (quoted ?? header).replaceAll(/\\(.)/g, '$1').slice(0, 4096);
  });
}

/** Converts a `Status` object, including one inside a watch, to an error. */
export function createStatusError(
  status: Record<string, unknown>,
  retryAfterSeconds: number | null = null,
): KubernetesStatusError {
  const details = isRecord(status['details']) ? status['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'].slice(0, 100).filter(isRecord) : [];
  const advised = typeof details['retryAfterSeconds'] === 'number' ? details['retryAfterSeconds'] : null;
  const metadata = isRecord(status['metadata']) ? status['metadata'] : {};
  return new KubernetesStatusError({
    status: typeof status['code'] === 'number' ? status['code'] : 500,
    reason: parseText(status['reason']),
    message: parseText(status['message']) || 'refused without a message',
    causes: causes.map(parseCause),
    retryAfterSeconds: retryAfterSeconds ?? advised,
    continueToken: parseText(metadata['continue']) || null,
  });
}

function parseCause(cause: Record<string, unknown>): StatusCause {
  return { reason: parseText(cause['reason']), message: parseText(cause['message']), field: parseText(cause['field']) };
}

function statusError(response: IncomingMessage, value: unknown, text: string): KubernetesStatusError {
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : null;
  const code = response.statusCode ?? 500;
  if (isRecord(value) && value['kind'] === 'Status') return createStatusError({ code, ...value }, retryAfterSeconds);
  // Proxies in front of an API server return their own pages.
  const message = text.trim().slice(0, 500) || response.statusMessage || 'refused';
  return new KubernetesStatusError({ status: code, reason: '', message, retryAfterSeconds });
}

function isRefusal(response: IncomingMessage): boolean {
  const status = response.statusCode ?? 0;
  return status < 200 || status > 299;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller decides how to handle invalid JSON
  }
}

function parseText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
