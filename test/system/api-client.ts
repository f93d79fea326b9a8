import type { ReadyLine } from './running-platform.ts';

/** Calls the REST API like a script: with the address and optionally the token of the ready line, JSON in and out. */
export interface ApiClient {
  get<Answer>(path: string): Promise<Answer>;
  post<Answer>(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<void>;
}

export function apiClient(ready: Pick<ReadyLine, 'url'> & { readonly token?: string }): ApiClient {
  const call = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await fetch(new URL(path, ready.url), {
      method,
      headers: {
        ...(ready.token === undefined ? {} : { authorization: `Bearer ${ready.token}` }),
        connection: 'close', // a leak test counts sockets
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text;
  };
  return {
    // The caller specifies the contract's shape; a wrong one fails where it is used.
    get: async <Answer>(path: string) => JSON.parse(await call('GET', path)) as Answer,
    post: async <Answer>(path: string, body?: unknown) => JSON.parse(await call('POST', path, body)) as Answer,
    delete: async (path) => void (await call('DELETE', path)),
  };
}
