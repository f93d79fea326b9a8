/**
 * The contract's shape of every JSON response: `success`, a message and the data. The error renderer uses the same
 * shape.
 */
export interface Envelope<Data> {
  success: true;
  message: string;
  data: Data;
}

export function envelope<Data>(message: string, data: Data): Envelope<Data> {
  return { success: true, message, data };
}

/** RFC 3339 in UTC with milliseconds. */
export function toTimestamp(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
