/** Every JSON answer of the contract: `success`, a sentence, and the data. Errors have the same shape, by the renderer. */
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
