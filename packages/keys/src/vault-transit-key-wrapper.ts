import { readFile } from 'node:fs/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { failUnanswered } from '@svc/runtime';
import { keyErrors } from './errors.ts';
import type { KeyWrapper, WrappedKey } from './key-wrapper.ts';

const PREFIX = 'vault-transit:';
const RETRY_AFTER_SECONDS = '5';
const MAX_ANSWER_BYTES = 64 * 1024;

/** Connection settings of Vault or OpenBao. */
export interface VaultTransitOptions {
  /** Base URL of Vault or OpenBao. */
  address: string;
  /** Mount path of the transit engine. */
  mount: string;
  /** Name of the transit key. */
  key: string;
  namespace?: string | undefined;
  /** PEM certificates to trust for `address`. Defaults to the system's. */
  ca?: string | undefined;
  timeoutMs: number;
  /** Called before each request, so that a token renewed in its file takes effect immediately. */
  token: () => Promise<string>;
}

/**
 * Uses the transit engine of Vault or OpenBao: `encrypt` and `decrypt` with associated data. The transit key never
 * leaves it. A refused token counts as unavailable, because it is renewed externally.
 */
export function createVaultTransitKeyWrapper(options: VaultTransitOptions): KeyWrapper {
  const { mount, key } = options;
  const id = `${PREFIX}${mount}/${key}`;
  return {
    id: async () => id,
    opens: (wrapperId) => wrapperId === id,
    wrap: async (plaintext, context) => {
      const sent = { plaintext: toBase64(plaintext), associated_data: toBase64(context) };
      const { ciphertext } = await call(options, 'encrypt', sent, id);
      if (typeof ciphertext !== 'string') throw unavailable('its answer holds no ciphertext');
      return { wrapper: id, text: ciphertext };
    },
    unwrap: async ({ text: ciphertext }: WrappedKey, context) => {
      const sent = { ciphertext, associated_data: toBase64(context) };
      const { plaintext } = await call(options, 'decrypt', sent, id);
      if (typeof plaintext !== 'string') throw unavailable('its answer holds no plaintext');
      return Buffer.from(plaintext, 'base64');
    },
  };
}

/** Reads the token from a file for each call. */
export function tokenFromFile(file: string): () => Promise<string> {
  return async () => {
    try {
      return (await readFile(file, 'utf8')).trim();
    } catch (cause) {
      throw unavailable(`its token file ${file} cannot be read`, cause);
    }
  };
}

async function call(
  options: VaultTransitOptions,
  verb: 'encrypt' | 'decrypt',
  body: Record<string, string>,
  wrapper: string,
): Promise<Record<string, unknown>> {
  const token = await options.token();
  const path = [...options.mount.split('/'), verb, options.key].map(encodeURIComponent).join('/');
  const { status, answer } = await post(new URL(`/v1/${path}`, options.address), { ...options, token }, body);
  if (status === 200) return parseFields(parseFields(answer)['data']);
  const [reason = `it answers ${status}`] = parseErrors(answer);
  if (status === 400 && verb === 'decrypt') throw keyErrors.KEY_NOT_OPENED({ details: { wrapper, reason } });
  throw unavailable(status === 403 ? 'its token is refused or has expired' : reason);
}

interface PostOptions {
  namespace?: string | undefined;
  ca?: string | undefined;
  timeoutMs: number;
  token: string;
}

async function post(
  url: URL,
  { namespace, ca, timeoutMs, token }: PostOptions,
  body: Record<string, string>,
): Promise<{ status: number; answer: unknown }> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = {
    'content-type': 'application/json',
    'x-vault-request': 'true',
    'x-vault-token': token,
    ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
  };
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = send(url, { method: 'POST', headers, signal, ...(ca === undefined ? {} : { ca }) }, resolve);
      failUnanswered(outgoing);
      outgoing.on('error', reject);
      outgoing.end(JSON.stringify(body));
    });
    const answer = await text(bounded(response));
    return { status: response.statusCode ?? 0, answer: parse(answer) };
  } catch (cause) {
    if (signal.aborted) throw unavailable(`no answer within ${timeoutMs} ms`);
    const code = (cause as { code?: unknown }).code; // code of a system error, for display only
    throw unavailable(typeof code === 'string' ? code : 'the connection failed', cause);
  }
}

async function* bounded(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
    yield chunk;
  }
}

function parse(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return null; // a proxy's page: the status is enough
  }
}

function parseErrors(answer: unknown): string[] {
  const { errors } = parseFields(answer);
  return Array.isArray(errors) ? errors.filter((each) => typeof each === 'string') : [];
}

function parseFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}; // each field is checked
}

function toBase64(value: string | Uint8Array): string {
  return Buffer.from(typeof value === 'string' ? Buffer.from(value) : value).toString('base64');
}

function unavailable(reason: string, cause?: unknown): Error {
  return keyErrors.KEY_SERVICE_UNAVAILABLE({
    details: { reason },
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
    ...(cause === undefined ? {} : { cause }),
  });
}
