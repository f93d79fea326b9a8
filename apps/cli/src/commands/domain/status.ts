import { setTimeout as delay } from 'node:timers/promises';
import type { CustomDomain, ObjectStoreClient } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

interface StatusFlags extends ConnectionFlags {
  wait?: boolean;
  timeout?: string;
}

/** The platform's minimum interval between checks. */
const POLL_MS = 5_000;

export function registerDomainStatus(parent: Command): void {
  addConnectionOptions(parent.command('status'))
    .description('Show the status of a custom domain')
    .argument('<hostname>')
    .option('--wait', 'Wait until the domain is active')
    .option('--timeout <time>', 'Timeout of --wait', '10m')
    .action((hostname: string, flags: StatusFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { store } = await connect();
        const timeoutMs = readDurationMs(flags.timeout ?? '10m');
        const domain =
          flags.wait === true
            ? await waitUntilActive(store, hostname, { timeoutMs, signal })
            : await store.domains.status(hostname, { signal });
        output.answer(domain, describeDomain(domain));
      }),
    );
}

async function waitUntilActive(
  store: ObjectStoreClient,
  hostname: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<CustomDomain> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const domain = await store.domains.status(hostname, { signal });
    if (domain.status === 'active') return domain;
    const lines = describeDomain(domain).join('; ');
    if (domain.status === 'blocked') throw new CommandFailure(`${hostname} is blocked by the operator`);
    // Keep waiting on errors, which resolve once the DNS is correct.
    if (performance.now() + POLL_MS > deadlineMs)
      throw new CommandFailure(`${hostname} did not become active in time: ${lines}`);
    await delay(POLL_MS, undefined, { signal });
  }
}

function describeDomain(domain: CustomDomain): string[] {
  const { status, hostname, error, dns } = domain;
  const reason = typeof error === 'string' ? error : error?.message;
  return [
    `${hostname} is ${status}`,
    ...(dns === undefined || dns === null ? [] : [`DNS: ${dns.status}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(status === 'active' ? [domain.url] : [`it must be a CNAME of ${domain.cname_target}`]),
  ];
}
