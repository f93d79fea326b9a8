import { request as plainRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { collectStream } from '@svc/testing';

export interface SiteRequest {
  port: number;
  /** Goes into the `Host` header. */
  host: string;
  path: string;
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** The name of the handshake, when it is another one, and the authorities that may vouch for it. */
  tls: { ca: string; servername?: string } | null;
}

export interface SiteAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** Serial number of the certificate that was shown. */
  serialNumber: string | null;
}

/** A request to a listener on the loopback address, by a connection of its own. */
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
