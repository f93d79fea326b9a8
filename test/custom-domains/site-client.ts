import { request as plainRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { collectStream } from '@svc/testing';

export interface SiteRequest {
  port: number;
  /** Value of the `Host` header. */
  host: string;
  path: string;
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** The server name of the handshake, if different, and the trusted authorities. */
  tls: { ca: string; servername?: string } | null;
}

export interface SiteAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** Serial number of the server's certificate. */
  serialNumber: string | null;
}

/** Sends a request to a listener on the loopback address, over its own connection. */
export function getFrom({ port, host, path, method = 'GET', headers = {}, tls }: SiteRequest): Promise<SiteAnswer> {
  const options: RequestOptions = {
    host: '127.0.0.1',
    port,
    path,
    method,
    agent: false,
    timeout: 10_000,
    headers: { ...headers, host },
  };
  return new Promise((resolve, reject) => {
    const request =
      tls === null ? plainRequest(options) : tlsRequest({ ...options, ca: tls.ca, servername: tls.servername ?? host });
    request.once('response', (response) => {
      const serialNumber = tls === null ? null : (response.socket as TLSSocket).getPeerCertificate().serialNumber;
      const { statusCode: status = 0, headers: answered } = response;
      collectStream(response).then(
        (content) => resolve({ status, headers: answered, body: content.toString('utf8'), serialNumber }),
        reject,
      );
    });
    request.once('timeout', () => request.destroy(new Error('no answer in time')));
    request.once('error', reject);
    request.end();
  });
}
