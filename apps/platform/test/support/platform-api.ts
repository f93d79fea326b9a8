import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Composition } from '../../src/compose.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

/** A running platform, as its callers see it, and its parts. */
export interface PlatformApi {
  readonly composition: Composition;
  call(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer>;
}

/** Sends JSON, and parses the JSON of the response. */
export async function callPlatform(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const sent = body === undefined ? '' : JSON.stringify(body);
  const length = String(Buffer.byteLength(sent)); // Node does not frame the body of a DELETE by itself
  const json = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': length };
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port,
    method,
    path,
    agent: false,
    headers: { ...headers, ...json },
  });
  outgoing.end(sent);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's event
  const content = await text(response);
  const parsed = content === '' ? {} : (JSON.parse(content) as Record<string, unknown>); // checked by the tests
  return { status: response.statusCode ?? 0, headers: response.headers, body: parsed };
}
