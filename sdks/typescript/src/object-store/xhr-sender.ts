import type { BodySender, SendAnswer, SendRequest } from './body-sender.ts';

/** The used subset of `XMLHttpRequest`, declared here because this package also compiles without browser types. */
export interface XhrLike {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { addEventListener(type: 'progress', listener: (event: { loaded: number }) => void): void };
  withCredentials: boolean;
  addEventListener(type: 'load' | 'error' | 'abort', listener: () => void): void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: Blob | Uint8Array<ArrayBuffer>): void;
  abort(): void;
}

/**
 * Sends uploads by `XMLHttpRequest`, for progress in browsers, where `fetch` does not expose sent bytes.
 *
 * @example
 * ```ts
 * store.objects('photos', xhrSender(() => new XMLHttpRequest()));
 * ```
 */
export function xhrSender(create: () => XhrLike): BodySender {
  return (request) => sendWith(create(), request);
}

function sendWith(xhr: XhrLike, request: SendRequest): Promise<SendAnswer> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    const abort = (): void => xhr.abort();
    const settle = (type: 'load' | 'error' | 'abort', finish: () => void): void =>
      xhr.addEventListener(type, () => {
        signal.removeEventListener('abort', abort);
        finish();
      });
    xhr.upload.addEventListener('progress', ({ loaded }) => request.onProgress(loaded));
    settle('load', () =>
      resolve({ status: xhr.status, headers: parseHeaders(xhr.getAllResponseHeaders()), text: xhr.responseText }),
    );
    // The class that `fetch` throws, so that both map to the same SDK error.
    settle('error', () => reject(new TypeError('The upload was cut off')));
    settle('abort', () => reject(abortReason(signal)));
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    signal.addEventListener('abort', abort);
    xhr.open(request.method, request.url);
    xhr.withCredentials = request.withCookies;
    for (const [name, value] of Object.entries(request.headers)) xhr.setRequestHeader(name, value);
    xhr.send(request.body);
  });
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('The upload was aborted');
}

function parseHeaders(text: string): Headers {
  const headers = new Headers();
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
