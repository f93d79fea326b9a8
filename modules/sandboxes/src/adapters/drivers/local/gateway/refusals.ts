import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from './secret-injection.ts';

/** Why the gateway answers a request itself. */
export type GatewayRefusal = Refusal | 'host' | 'target' | 'unreachable' | 'untrusted' | 'private' | 'late' | 'rate';

const ANSWERS: Readonly<Record<GatewayRefusal, readonly [status: number, code: string, message: string]>> = {
  no_rule: [421, 'EGRESS_NO_RULE', 'No rule of this sandbox names this host'],
  host: [421, 'EGRESS_WRONG_HOST', 'The Host header must name the host of the connection, without another port'],
  target: [405, 'EGRESS_WRONG_TARGET', 'TRACE and requests to other hosts through this connection are refused'],
  needs_https: [403, 'EGRESS_NEEDS_HTTPS', 'The rule for this host allows HTTPS only'],
  no_secret: [502, 'EGRESS_NO_SECRET', 'The secret of the rule for this host does not exist'],
  private: [502, 'EGRESS_NO_ADDRESS', 'The host has no address that the sandbox may reach'],
  untrusted: [502, 'EGRESS_UNTRUSTED', "The host's certificate could not be verified"],
  unreachable: [502, 'EGRESS_UNREACHABLE', 'The host could not be reached, or it ended the connection'],
  late: [504, 'EGRESS_TIMEOUT', 'The host did not answer in time'],
  rate: [429, 'EGRESS_RATE_LIMITED', 'Too many requests of this sandbox to hosts with a rule'],
};

function answerTo(refusal: GatewayRefusal): { status: number; headers: Record<string, string>; body: string } {
  const [status, code, message] = ANSWERS[refusal];
  const body = `${JSON.stringify({ error: message, code, message, status })}\n`;
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  return { status, headers, body };
}

export function refuseRequest(response: ServerResponse, refusal: GatewayRefusal): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = answerTo(refusal);
  response.writeHead(status, headers).end(body);
}

export function refuseUpgrade(socket: Duplex, refusal: GatewayRefusal): void {
  const { status, headers, body } = answerTo(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
}
