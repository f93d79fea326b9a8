import type { HttpApp } from '@svc/http';

export interface TestResponse {
  status: number;
  /** The JSON response; an empty object if there was none. */
  body: Record<string, unknown>;
  headers: Record<string, string | string[] | number | undefined>;
  cookies: { name: string; value: string; [attribute: string]: unknown }[];
}

export interface TestRequest {
  token?: string;
  cookies?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  remoteAddress?: string;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** One request through the whole app: guard, validation, handler, error renderer, audit. */
export async function call(
  app: HttpApp,
  method: Method,
  url: string,
  request: TestRequest = {},
): Promise<TestResponse> {
  const { token, cookies, headers, body, remoteAddress } = request;
  const response = await app.inject({
    method,
    url,
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    ...(cookies === undefined ? {} : { cookies }),
    ...(body === undefined ? {} : { payload: body as object }),
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
  });
  const parsed: unknown = response.payload === '' ? {} : JSON.parse(response.payload);
  return {
    status: response.statusCode,
    body: parsed as Record<string, unknown>, // every response of this API is a JSON object
    headers: response.headers,
    cookies: response.cookies,
  };
}
