/** A body whose length is known. */
export type SizedBody = Blob | Uint8Array<ArrayBuffer>;

export interface SendRequest {
  method: 'PUT' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body: SizedBody;
  /** True where the browser's session cookie is the credential. */
  withCookies: boolean;
  signal: AbortSignal;
  /** How much of this body has left so far, in bytes. */
  onProgress: (sentBytes: number) => void;
}

export interface SendAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The port through which bytes of an upload leave. Rejects only when there is no answer. */
export type BodySender = (request: SendRequest) => Promise<SendAnswer>;

export function bodySizeBytes(body: SizedBody): number {
  return body instanceof Blob ? body.size : body.byteLength;
}

/** Works everywhere; tells of progress only when a request is done, since `fetch` does not see what has left. */
export function fetchSender(send: typeof fetch = fetch): BodySender {
  return async ({ method, url, headers, body, withCookies, signal, onProgress }) => {
    const credentials = withCookies ? 'same-origin' : 'omit';
    const response = await send(url, { method, headers, body, credentials, redirect: 'error', signal });
    const text = await response.text();
    if (response.ok) onProgress(bodySizeBytes(body));
    return { status: response.status, headers: response.headers, text };
  };
}
