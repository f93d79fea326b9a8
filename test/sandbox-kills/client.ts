import type { Answer, Api, Call } from './api.ts';
import type { Journal, KnownSandbox, KnownSnapshot, KnownVolume, State } from './journal.ts';
import type { KnownTemplate } from './known-templates.ts';

/** One of several concurrent clients, each with its own sandboxes. */
export interface Client {
  readonly name: string;
  readonly api: Api;
  readonly journal: Journal;
  readonly random: () => number;
  readonly sandboxes: KnownSandbox[];
  readonly snapshots: KnownSnapshot[];
  readonly volumes: KnownVolume[];
  readonly templates: KnownTemplate[];
  /** What the driver does not have, and clients do not ask for. */
  readonly lacks?: ReadonlySet<'egress_allow' | 'templates' | 'volumes'>;
}

/** The platform was killed before it responded. */
export class Cut extends Error {}

/** The outcome of an answered operation: as expected, or refused for a known reason. */
export type Outcome = { readonly answer: Answer; readonly isGood: boolean };

/**
 * Sends a request and checks the response against what is known: a refusal is only allowed if a kill of the sandbox's
 * own first process explains it. Throws `Cut` if there is no response.
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
  // The kill may have been announced while the response was in transit.
  if (!isGood && about?.isDoubtful !== true) {
    client.journal.wrong(`${method} ${path} answered ${answer.status}: ${answer.bytes.toString('utf8').slice(0, 400)}`);
  }
  return { answer, isGood };
}

export function pathOf({ id }: KnownSandbox, rest = ''): string {
  return `/api/containers/${id}${rest}`;
}

/** The known state of the sandbox, `doubtful` if uncertain; null unless the sandbox certainly exists. */
export function surely({ states, isDoubtful, existence }: KnownSandbox): State | 'doubtful' | null {
  if (existence !== 'there') return null;
  const [state] = states;
  if (isDoubtful || states.size !== 1 || state === undefined) return 'doubtful';
  return state;
}

/** Adds states that the sandbox may be in from now on. */
export function mayBe(sandbox: KnownSandbox, ...states: readonly State[]): void {
  sandbox.states = new Set([...sandbox.states, ...states]);
}

export function is(sandbox: KnownSandbox, state: State): void {
  sandbox.states = new Set([state]);
}

export function pick<Each>(random: () => number, list: readonly Each[]): Each | undefined {
  return list[Math.floor(random() * list.length)];
}
