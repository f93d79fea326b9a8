import { CommandFailure } from './command-failure.ts';

/** The platform's own words, from the contract's error body. */
export function refusalOf(status: number, body: string): CommandFailure {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } }; // looked at below
    if (typeof error?.message === 'string') return new CommandFailure(error.message);
  } catch {
    // something on the way answered in its own manner
  }
  return new CommandFailure(`the platform answered ${status}`);
}
