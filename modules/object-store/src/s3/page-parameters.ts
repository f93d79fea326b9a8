import { storeErrors } from '../errors.ts';
import type { RequestQuery } from './query.ts';

const MAX_INTEGER = 2_147_483_647;

/**
 * Reads `max-keys` and similar parameters. Defaults to the limit; larger values are reduced to it, invalid ones throw.
 */
export function readLimit(query: RequestQuery, name: string, limit: number): number {
  return readLimitText(query.get(name), name, limit);
}

/** The same for the text of a header. */
export function readLimitText(text: string | undefined, name: string, limit: number): number {
  if (text === undefined || text === '') return limit;
  if (!/^\d{1,10}$/.test(text) || Number(text) > MAX_INTEGER) {
    const reason = /^-\d{1,10}$/.test(text)
      ? `Argument ${name} must be an integer between 0 and ${MAX_INTEGER}`
      : `Provided ${name} not an integer or within integer range`;
    const details = { reason, field: name, argumentName: name, argumentValue: text.slice(0, 100) };
    throw storeErrors.InvalidArgument({ details });
  }
  return Math.min(Number(text), limit);
}

/** How to write keys in a response: unchanged, or percent-encoded if the client asked for it. */
export function readEncoding(query: RequestQuery): (key: string) => string {
  const type = query.get('encoding-type');
  if (type === undefined || type === '') return (key) => key;
  if (type !== 'url') {
    throw storeErrors.InvalidArgument({ details: { reason: 'Invalid Encoding Method specified in Request' } });
  }
  return (key) => key.split('/').map(encodeURIComponent).join('/');
}

/** Encodes a position as an opaque continuation token. */
export function toToken(position: string): string {
  return Buffer.from(position).toString('base64url');
}

export function fromToken(token: string): string {
  const position = Buffer.from(token, 'base64url').toString();
  if (position === '' || toToken(position) !== token) {
    throw storeErrors.InvalidArgument({ details: { reason: 'The continuation token provided is incorrect' } });
  }
  return position;
}

export function toIsoDate(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
