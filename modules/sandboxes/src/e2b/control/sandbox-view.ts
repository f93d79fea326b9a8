import type { Sandbox } from '../../domain/sandbox.ts';
import { ENVD_VERSION } from '../envd-version.ts';
import { toE2bId } from '../sandbox-ids.ts';
import { templateOf } from './create-body.ts';
import { toEgressView } from './egress.ts';
import { toHeaderRulesView } from './header-rules.ts';
import { isSuspended } from './sandbox-finder.ts';

/** Represents no end: clients require one. */
const NO_END = '9999-12-31T23:59:59.000Z';
const CLIENT_ID = 'svc';

/** What a client needs to address a sandbox. */
export function toAddressView(
  sandbox: Sandbox,
  { token, trafficToken, domain }: { token: string; trafficToken: string | null; domain: string },
) {
  return {
    sandboxID: toE2bId(sandbox.id),
    templateID: templateOf(sandbox),
    alias: sandbox.name,
    clientID: CLIENT_ID,
    envdVersion: ENVD_VERSION,
    envdAccessToken: token,
    trafficAccessToken: trafficToken,
    domain,
  };
}

export function toListedView(sandbox: Sandbox, now: Date) {
  return {
    sandboxID: toE2bId(sandbox.id),
    templateID: templateOf(sandbox),
    alias: sandbox.name,
    clientID: CLIENT_ID,
    startedAt: sandbox.startedAt ?? sandbox.createdAt,
    endAt: sandbox.expiresAt ?? NO_END,
    cpuCount: Math.max(1, Math.ceil(sandbox.resources.cpuMillis / 1000)),
    memoryMB: sandbox.resources.memoryMb,
    diskSizeMB: sandbox.resources.diskMb,
    metadata: sandbox.labels,
    state: isSuspended(sandbox, now) ? 'paused' : 'running',
    envdVersion: ENVD_VERSION,
    volumeMounts: sandbox.volumes.map(({ name, path }) => ({ name, path })),
  };
}

export function toDetailView(sandbox: Sandbox, token: string, domain: string, now: Date) {
  return {
    ...toListedView(sandbox, now),
    envdAccessToken: token,
    domain,
    allowInternetAccess: sandbox.network === 'egress' && sandbox.egressAllow?.length !== 0,
    network: {
      ...(sandbox.network === 'none' ? toEgressView([]) : toEgressView(sandbox.egressAllow)),
      ...toHeaderRulesView(sandbox.egressRules),
      ...(sandbox.requestHost === null ? {} : { maskRequestHost: sandbox.requestHost }),
    },
    lifecycle: {
      onTimeout: sandbox.onExpiry === 'delete' ? 'kill' : 'pause',
      autoResume: sandbox.resumeSeconds !== null,
    },
  };
}
