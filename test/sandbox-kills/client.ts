import type { Answer, Api, Call } from './api.ts';
import type { Journal, KnownSandbox, KnownSnapshot, State } from './journal.ts';

/** One of those who work at the same time, each on sandboxes of its own. */
export interface Client {
  readonly name: string;
  readonly api: Api;
  readonly journal: Journal;
  readonly random: () => number;
  readonly sandboxes: KnownSandbox[];
  readonly snapshots: KnownSnapshot[];
}

/** The platform was killed before it answered. */
export class Cut extends Error {}

/** What an operation came to: answered as it should be, or not at all, or refused for a reason that is known. */
export type Outcome = { readonly answer: Answer; readonly isGood: boolean };

/**
 * Asks, and holds the answer against what is known: a refusal is allowed only where a kill of the sandbox's own first
 * process explains it. Throws `Cut` when there is no answer.
 */
export async function ask(
  client: Client,
  about: KnownSandbox | null,
  method: string,
  path: string,
  call: Call = {},
): Promise<Outcome> {
  const answer = await client.api(method, path, call);
  if (answer === null) throw new Cut();
  const isGood = answer.status < 300;
  // The kill may have been said while the answer was on its way.
  if (!isGood && about?.isDoubtful !== true) {
    client.journal.wrong(`${method} ${path} answered ${answer.status}: ${answer.bytes.toString('utf8').slice(0, 400)}`);
  }
  return { answer, isGood };
}

export function pathOf({ id }: KnownSandbox, rest = ''): string {
  return `/api/containers/${id}${rest}`;
}

/** What it surely is, or null. */
export function surely({ states, isDoubtful, existence }: KnownSandbox): State | 'doubtful' | null {
  if (existence !== 'there') return null;
  const [state] = states;
  if (isDoubtful || states.size !== 1 || state === undefined) return 'doubtful';
  return state;
}

/** From now on it may be this as well. */
export function mayBe(sandbox: KnownSandbox, ...states: readonly State[]): void {
  sandbox.states = new Set([...sandbox.states, ...states]);
}

export function is(sandbox: KnownSandbox, state: State): void {
  sandbox.states = new Set([state]);
}

export function pick<Each>(random: () => number, list: readonly Each[]): Each | undefined {
  return list[Math.floor(random() * list.length)];
}
