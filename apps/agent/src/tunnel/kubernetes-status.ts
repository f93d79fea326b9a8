import { STATUS_CODES, type ServerResponse } from 'node:http';

/** A refusal by the agent, before contacting the API server or because it could not. */
export class KubernetesRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly reason: string;

  constructor(status: number, code: string, reason: string, message: string) {
    super(message);
    this.name = 'KubernetesRefusal';
    this.status = status;
    this.code = code;
    this.reason = reason;
  }
}

/** In the format that kubectl reads (`kind: Status`), with the contract's `error` beside it. */
function renderBody({ status, code, reason, message }: KubernetesRefusal): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code: status,
    error: { code, message, details: { reason: message } },
  });
}

export function writeStatus(response: ServerResponse, refusal: KubernetesRefusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = renderBody(refusal);
  response.writeHead(refusal.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close', // the rest of the request's body is not read
  });
  response.end(body);
}

/** The same for an upgrade request. */
export function statusText(refusal: KubernetesRefusal): string {
  const body = renderBody(refusal);
  return [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? 'Error'}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
