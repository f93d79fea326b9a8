import { request, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { failUnanswered } from '@svc/runtime';
import { storeErrors } from '../../errors.ts';

export interface AuthorityAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface AuthorityRequest {
  method: 'GET' | 'HEAD' | 'POST';
  body?: string;
  /** PEM of the CAs trusted for the server's certificate, in place of the system's CAs. */
  ca: string | undefined;
  signal: AbortSignal;
}

const TIMEOUT_MS = 20_000;
const MOST_BODY_BYTES = 1024 * 1024;

/** Sends one request over its own connection. Throws `CertificateUnavailable` on failure. */
export async function sendRequest(url: string, options: AuthorityRequest): Promise<AuthorityAnswer> {
  const { method, body, ca, signal } = options;
  const settings: RequestOptions = {
    method,
    agent: false,
    timeout: TIMEOUT_MS,
    signal,
    headers: {
      'user-agent': 'svc',
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/jose+json', 'content-length': Buffer.byteLength(body) }),
    },
    ...(ca === undefined ? {} : { ca }),
  };
  try {
    return await exchange(url, settings, body);
  } catch (cause) {
    const reason = `the certificate authority did not answer (${codeOf(cause)})`;
    throw storeErrors.CertificateUnavailable({ cause, details: { reason, problem: 'authority_unreachable' } });
  }
}

function exchange(url: string, settings: RequestOptions, body: string | undefined): Promise<AuthorityAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, settings, (response) => {
      readBody(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        reject,
      );
    });
    failUnanswered(outgoing);
    outgoing.once('timeout', () => outgoing.destroy(new Error('it was silent for too long')));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) throw new Error('its answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }; // a foreign error; only displayed
  return typeof code === 'string' ? code : 'no answer';
}
