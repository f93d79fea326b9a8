import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../system/running-platform.ts';

const LOG_LIMIT = 1024 * 1024;

export interface AgentProcessOptions {
  platformUrl: string;
  kubeconfig: string;
  stateDir: string;
  cluster: { id: string; name: string; token: string };
}

/** The agent as a separate process, which can be killed at any time and restarted on the state it left. */
export class AgentProcess {
  readonly #environment: Record<string, string>;
  #child: ChildProcess | null = null;
  #log = '';

  constructor({ platformUrl, kubeconfig, stateDir, cluster }: AgentProcessOptions) {
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      CLUSTER_NAME: cluster.name,
      SVC_CLUSTER_ID: cluster.id,
      SVC_TOKEN: cluster.token,
      SVC_API_URL: platformUrl,
      SVC_STATE_DIR: stateDir,
      SVC_AGENT_HOST: '127.0.0.1',
      SVC_AGENT_PORT: '0',
      SVC_METRICS_PORT: '0',
      SVC_RECONNECT_INTERVAL: '100ms',
      SVC_RECONNECT_MAX_INTERVAL: '1s',
      KUBECONFIG: kubeconfig,
    };
  }

  get log(): string {
    return this.#log;
  }

  start(): void {
    const child = spawn(process.execPath, [join(PROJECT_ROOT, 'apps/agent/src/main.ts'), 'run'], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      this.#log = (this.#log + chunk.toString()).slice(-LOG_LIMIT);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    this.#child = child;
  }

  /** SIGKILL; the process is gone when it resolves. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}
