import { setTimeout as delay } from 'node:timers/promises';
import { pick } from '../sandbox-kills/client.ts';
import type { Journal } from './journal.ts';
import type { Replica, World } from './world.ts';

const ANSWER_LIMIT_MS = 25_000;

/** One of several concurrent clients. Each has things of its own, and uses any replica. */
export interface Client {
  readonly name: string;
  readonly world: World;
  readonly journal: Journal;
  readonly random: () => number;
}

export interface Answer {
  readonly status: number;
  readonly code: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Call {
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Null: there was no answer, so it is unknown whether the request was carried out. */
export async function call(
  { ready }: Pick<Replica, 'ready'>,
  method: string,
  path: string,
  { json, headers }: Call = {},
): Promise<Answer | null> {
  if (ready === null) return null;
  try {
    const response = await fetch(new URL(path, ready.url), {
      method,
      headers: {
        authorization: `Bearer ${ready.token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : {}; // every JSON body of this API is an object
    return { status: response.status, code: codeIn(body) ?? codeIn(body['error']) ?? '', body };
  } catch {
    return null; // cut off, or too late
  }
}

/** The code of an error, of which each contract has its own form. */
function codeIn(error: unknown): string | null {
  const { code } = Object(error) as { readonly code?: unknown }; // primitives have none
  return typeof code === 'string' ? code : null;
}

/** Any replica that the client knows, which may be paused or cut off: clients cannot tell. */
export function anyReplica({ world, random }: Pick<Client, 'world' | 'random'>): Replica {
  const replica = pick(random, world.running) ?? world.replicas[0];
  if (replica === undefined) throw new Error('there are no replicas');
  return replica;
}

const PAUSE_MS = 200;
const ATTEMPTS = 8;

/**
 * Sends a request to one replica after another while the answer is 503, which promises that nothing was done. Also after no
 * answer at all if `isRepeatable`.
 */
export async function persist(
  client: Client,
  send: (replica: Replica) => Promise<Answer | null>,
  isRepeatable: boolean,
): Promise<Answer | null> {
  for (let left = ATTEMPTS; ; left -= 1) {
    const answer = await send(anyReplica(client));
    const status = answer?.status ?? 0;
    client.journal.count(`answer ${status === 0 ? 'none' : `${status} ${answer?.code ?? ''}`.trim()}`);
    const again = status === 503 || (isRepeatable && (status === 0 || status >= 500));
    if (!again || left === 1) return answer;
    await delay(PAUSE_MS * (1 + client.random()));
  }
}
