import { UnexpectedAnswerError } from './errors.ts';

/** Reads a body as text up to a limit, so that a faulty or hostile server cannot exhaust memory. */
export async function readText(response: Response, limitBytes: number): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let sizeBytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      sizeBytes += value.byteLength;
      if (sizeBytes > limitBytes) throw new UnexpectedAnswerError(`The answer is larger than ${limitBytes} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    // Cancels the rest after an early end; does nothing after the last byte.
    await reader.cancel().catch(() => undefined);
  }
}

/** Parses JSON; undefined if the text is empty or invalid. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
