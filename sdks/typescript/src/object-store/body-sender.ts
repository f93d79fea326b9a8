/** A body of known length. */
export type SizedBody = Blob | Uint8Array<ArrayBuffer>;

/** An upload request. */
export interface SendRequest {
  method: 'PUT' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body: SizedBody;
  /** True if the browser's session cookie is the credential. */
  withCookies: boolean;
  signal: AbortSignal;
  /** Called with the number of bytes of this body sent so far. */
  onProgress: (sentBytes: number) => void;
}

/** The response to an upload request. */
export interface SendAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Port that sends the bytes of uploads. Rejects only if there is no response. */
export type BodySender = (request: SendRequest) => Promise<SendAnswer>;

/** Returns the size of a body in bytes. */
export function bodySizeBytes(body: SizedBody): number {
  return body instanceof Blob ? body.size : body.byteLength;
}

/**
 * Sends bodies by `fetch`. Works everywhere, but reports progress only when a request completes, because `fetch` does
 * not expose sent bytes.
 */
export function fetchSender(send: typeof fetch = fetch): BodySender {
  return async ({ method, url, headers, body, withCookies, signal, onProgress }) => {
    const credentials = withCookies ? 'same-origin' : 'omit';
    const response = await send(url, { method, headers, body, credentials, redirect: 'error', signal });
    const text = await response.text();
    if (response.ok) onProgress(bodySizeBytes(body));
    return { status: response.status, headers: response.headers, text };
  };
}
