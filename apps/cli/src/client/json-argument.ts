import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { usageFailure } from './command-failure.ts';

/** Reads a JSON object from `@FILE`, from stdin with `@-`, or from the argument itself. */
export async function readJsonArgument(argument: string): Promise<Record<string, unknown>> {
  const content =
    argument === '@-'
      ? await text(process.stdin)
      : argument.startsWith('@')
        ? await readFile(argument.slice(1), 'utf8')
        : argument;
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageFailure(`${argument.startsWith('@') ? argument.slice(1) : 'the argument'} is not JSON`, reason);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw usageFailure('expected a JSON object');
  return value as Record<string, unknown>; // objects from JSON.parse have string keys
}
