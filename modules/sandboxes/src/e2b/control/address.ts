import { grantedAccessOf } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import type { SandboxAccess } from '../../domain/access/sandbox-access.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { PortTraffic } from '../../routes/preview/port-traffic.ts';
import { toAddressView } from './sandbox-view.ts';

export interface AddressDeps {
  readonly access: SandboxAccess;
  readonly traffic: PortTraffic;
  /** Domain of the hosts that name a port and a sandbox, with the port of the TLS listener, which clients use. */
  readonly hostDomain: () => string;
}

/** How this caller reaches the sandbox: its names and tokens. */
export async function addressOf(
  { access, traffic, hostDomain }: AddressDeps,
  request: FastifyRequest,
  sandbox: Sandbox,
): Promise<object> {
  const granted = grantedAccessOf(request);
  return toAddressView(sandbox, {
    token: await access.issue(sandbox.id, granted),
    trafficToken: await traffic.tokenFor(sandbox.id, granted),
    domain: hostDomain(),
  });
}
