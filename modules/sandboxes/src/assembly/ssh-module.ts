import { noForwarding } from '@svc/http';
import type { Metrics } from '@svc/telemetry';
import type { SandboxContext } from '../domain/context.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { SshConnectionDeps } from '../ssh/ssh-connection.ts';
import type { SshListener } from '../ssh/ssh-listener.ts';
import { SshRelays } from '../ssh/ssh-relays.ts';
import type { SandboxesDependencies } from './dependencies.ts';

type Shared = Pick<SshConnectionDeps, 'limiter' | 'slots' | 'ports' | 'recorder'>;

/** Creates the SSH listener; null without `sandboxes.ssh.port`. Only then is the library loaded. */
export async function createSsh(
  { config, access, audit, rights, log, metrics, sshHostKey, forwarding = noForwarding }: SandboxesDependencies,
  { live, clock, quotaLimits }: SandboxContext,
  service: SandboxService,
  shared: Shared,
): Promise<SshListener | null> {
  if (config.ssh.port === undefined) return null;
  const [{ generateHostKey }, { SshListener: Listener }, { SshLogin }] = await Promise.all([
    import('../ssh/ssh-keys.ts'),
    import('../ssh/ssh-listener.ts'),
    import('../ssh/ssh-login.ts'),
  ]);
  const logins = metrics.counter('svc_ssh_logins_total', 'SSH logins to sandboxes', ['outcome']);
  const attempted = (outcome: string): void => logins.inc({ outcome });
  const login = new SshLogin({ access, audit, service, clock, attempted });
  const hostKey = (): Promise<string> => sshHostKey(generateHostKey);
  const { max_connections: maxConnections } = config.ssh;
  const deps = { ...shared, service, live, audit, clock, login, rights, log, forwarding };
  return new Listener(deps, { hostKey, maxConnections, quotaLimits });
}

/** Creates what other replicas need to reach sandboxes of this node over SSH; without the listener, too. */
export function createSshRelays(
  { access, audit }: SandboxesDependencies,
  { live, clock }: SandboxContext,
  service: SandboxService,
  shared: Shared,
): SshRelays {
  return new SshRelays({ ...shared, service, live, audit, clock, access });
}

export function observeSsh(metrics: Metrics, ssh: SshListener | null): void {
  if (ssh === null) return;
  metrics.observableGauge('svc_ssh_connections', 'Open SSH connections to sandboxes', () => ssh.connectionCount());
}
