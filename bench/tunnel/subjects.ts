import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { apiClient } from '@svc/test/api-client';
import { residentBytes } from '@svc/test/process-facts';
import { startPlatform, PROJECT_ROOT } from '@svc/test/running-platform';
import { findCommand, freePort, waitFor } from '@svc/testing';
import type { Entrance } from './connection.ts';
import { untilListening, type Processes } from './processes.ts';

/** A way to reach the backend. */
export interface Subject {
  name: string;
  entrance: Entrance;
  /** Memory of all its processes; null if they are not ours. */
  memoryMiB: (() => number) | null;
  stop?: () => Promise<unknown>;
}

const PLAIN = { isSecure: false, prefix: '', headers: {} } as const;

export function direct(port: number): Subject {
  return { name: 'direct', entrance: { ...PLAIN, port }, memoryMiB: null };
}

/** The platform and the agent as users start them, with TLS on every connection. */
export async function ours(processes: Processes, folder: string, backend: number): Promise<Subject> {
  const platform = await startPlatform({
    dataFolder: join(folder, 'data'),
    environment: { SVC_SERVICES: '["clusters"]', LOG_LEVEL: 'warn' },
  });
  const api = apiClient(platform.ready);
  const cluster = await api.post<{ id: string; token: string }>('/v1/clusters', { name: 'bench' });
  const endpoints = await api.get<{ certificate_authority: string }>(`/v1/clusters/${cluster.id}/tunnel-endpoints`);
  const authority = join(folder, 'ca.crt');
  writeFileSync(authority, endpoints.certificate_authority);
  const config = join(folder, 'agent.yaml');
  const forwards = [{ name: 'web', local_addr: `127.0.0.1:${backend}` }];
  writeFileSync(config, JSON.stringify({ tunnel: { enabled: true, forwards } }));
  const entry = join(PROJECT_ROOT, 'apps/agent/src/main.ts');
  const agent = processes.start(process.execPath, [entry, 'run', '--config', config], {
    PATH: process.env['PATH'],
    CLUSTER_NAME: 'bench',
    SVC_CLUSTER_ID: cluster.id,
    SVC_API_URL: platform.ready.https_url,
    SVC_TLS_CA_CERT: authority,
    SVC_TOKEN: cluster.token,
    SVC_AGENT_HOST: '127.0.0.1',
    SVC_AGENT_PORT: '0',
    SVC_METRICS_PORT: '0',
    SVC_STATE_DIR: join(folder, 'agent'),
    LOG_LEVEL: 'error',
  });
  agent.stdout?.resume();
  const headers = { authorization: `Bearer ${platform.ready.token}` };
  const prefix = `/v1/clusters/${cluster.id}/tunnel/web`;
  await waitFor(async () => (await fetch(`${platform.ready.url}${prefix}/`, { headers })).ok, { timeoutMs: 60_000 });
  return {
    name: 'svc tunnel',
    entrance: { port: Number(new URL(platform.ready.https_url).port), isSecure: true, prefix, headers },
    memoryMiB: () => (residentBytes(platform.ready.pid) + residentBytes(agent.pid ?? 0)) / 1024 ** 2,
    stop: () => platform.stop(),
  };
}

/** `sshd` and `ssh -R` with their own keys; null without sshd. */
export async function sshReverse(processes: Processes, folder: string, backend: number): Promise<Subject | null> {
  const [sshd, ssh] = [findCommand('sshd'), findCommand('ssh')];
  if (sshd === null || ssh === null || process.getuid?.() !== 0) return null;
  mkdirSync(join(folder, 'ssh'));
  const path = (name: string): string => join(folder, 'ssh', name);
  for (const name of ['host', 'user']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path(name)]);
  mkdirSync('/run/sshd', { recursive: true });
  const [port, remote] = [await freePort(), await freePort()];
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${path('host')}`,
    `AuthorizedKeysFile ${path('user.pub')}`,
    `PidFile ${path('pid')}`,
    'PermitRootLogin prohibit-password',
    'StrictModes no',
    'UsePAM no',
  ];
  writeFileSync(path('sshd_config'), `${lines.join('\n')}\n`);
  processes.start(sshd, ['-D', '-e', '-f', path('sshd_config')]);
  await untilListening(port);
  const options = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'];
  const forward = `127.0.0.1:${remote}:127.0.0.1:${backend}`;
  const target = `${userInfo().username}@127.0.0.1`;
  processes.start(ssh, ['-N', '-R', forward, '-i', path('user'), '-p', String(port), '-F', 'none', ...options, target]);
  await untilListening(remote);
  return { name: 'ssh -R', entrance: { ...PLAIN, port: remote }, memoryMiB: null };
}

export async function chiselReverse(processes: Processes, backend: number): Promise<Subject | null> {
  const chisel = process.env['SVC_BENCH_CHISEL'] ?? findCommand('chisel');
  if (chisel === null) return null;
  const [port, remote] = [await freePort(), await freePort()];
  processes.start(chisel, ['server', '--host', '127.0.0.1', '--port', String(port), '--reverse']);
  await untilListening(port);
  processes.start(chisel, ['client', `http://127.0.0.1:${port}`, `R:127.0.0.1:${remote}:127.0.0.1:${backend}`]);
  await untilListening(remote);
  return { name: 'chisel', entrance: { ...PLAIN, port: remote }, memoryMiB: null };
}
