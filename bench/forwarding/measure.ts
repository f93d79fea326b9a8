import { once } from 'node:events';
import { request, type Agent, type IncomingMessage } from 'node:http';

/** One request of the API, relative to a replica. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Sends a request over a kept connection and reads the whole answer. Returns the milliseconds. */
export async function send(client: { agent: Agent; token: string }, url: string, call: Call): Promise<number> {
  const { method, path, body } = call;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${client.token}`,
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  const startedAt = performance.now();
  const sent = request(`${url}${path}`, { agent: client.agent, method, headers });
  sent.end(text);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]; // as documented by node:http
  answer.resume();
  await once(answer, 'end');
  const milliseconds = performance.now() - startedAt;
  if (answer.statusCode !== 200) throw new Error(`${method} ${path} was answered with ${answer.statusCode}`);
  return milliseconds;
}

export function percentile(milliseconds: readonly number[], share: number): number {
  const sorted = milliseconds.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
