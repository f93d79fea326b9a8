import { isAppError } from '@svc/errors';

const NOT_IMPLEMENTED = 501;

/**
 * Returns what a parser of untrusted input returns; null if it refuses the input with an error for the client. Any other
 * error is a fault of the parser, and is thrown.
 */
export function orRefusal<Value>(parse: () => Value): Value | null {
  try {
    return parse();
  } catch (error) {
    return asRefusal(error);
  }
}

/** The same for a parser that reads a stream. */
export async function orRefusalLater<Value>(parse: () => Promise<Value>): Promise<Value | null> {
  try {
    return await parse();
  } catch (error) {
    return asRefusal(error);
  }
}

function asRefusal(error: unknown): null {
  if (isAppError(error) && (error.status < 500 || error.status === NOT_IMPLEMENTED)) return null;
  throw error;
}
