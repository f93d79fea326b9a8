import type { PlatformStatus, ReadyLine } from '@svc/platform';
import { describeIsolation } from '../client/describe-isolation.ts';

/** Renders the startup summary: addresses, how to sign in, and which services are enabled or why not. */
export function renderSummary(
  ready: ReadyLine,
  status: PlatformStatus,
  owner: { email: string; file: string },
): string {
  const lines = [
    '',
    `  svc ${status.version} is up`,
    '',
    `  Console       ${ready.url}`,
    ...(ready.https_url === null ? [] : [`  With TLS      ${ready.https_url}`]),
    ...(ready.s3_endpoint === null ? [] : [`  S3            ${ready.s3_endpoint}`]),
    ...(ready.s3_https_endpoint === null ? [] : [`  S3 with TLS   ${ready.s3_https_endpoint}`]),
    '',
    `  Sign in       ${owner.email}`,
    `  Password      in ${owner.file} (set at the first start; change it with svc admin reset-password)`,
    `  API token     in ${owner.file}, valid until the next start`,
    '',
  ];
  for (const [name, service] of Object.entries(status.services)) {
    const label = name.replace('_', ' ').padEnd(14);
    const words = 'isolation' in service ? describeIsolation(service) : null;
    const note = words === null ? '' : `, ${words}`;
    lines.push(
      service.enabled ? `  ${label}on${note}` : `  ${label}off: ${service.reason ?? 'disabled in the configuration'}`,
    );
  }
  lines.push('', '  Press Ctrl-C to stop.', '');
  return lines.join('\n');
}
