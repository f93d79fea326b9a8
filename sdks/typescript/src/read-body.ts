import { UnexpectedAnswerError } from './errors.ts';

/** Reads a body as text and stops at the limit, so that a wrong or hostile server cannot fill the memory. */
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
    // Cancels what is left after an early end; does nothing after the last byte.
    await reader.cancel().catch(() => undefined);
  }
}

/** The parsed JSON, or undefined when the text is empty or is not JSON. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
