import { createLogger } from '@svc/telemetry';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { startAgent, type Agent } from '../../src/agent.ts';
import { systemClock, type Clock } from '@svc/runtime';
import { LiveConfig } from '../../src/config/live-config.ts';
import { loadAgentConfig } from '../../src/config/load.ts';

export interface TestAgentOptions {
  platformUrl?: string;
  environment?: Record<string, string>;
  /** Text of a configuration file; absent = environment only. */
  file?: string;
  clock?: Clock;
  random?: () => number;
  /** State folder of an earlier agent to continue with; then it is not removed at the end. */
  stateDir?: string;
}

export interface TestAgent {
  readonly agent: Agent;
  readonly config: LiveConfig;
  /** Changed by a test before it calls `config.reload`. */
  readonly environment: Record<string, string>;
  /** Every line of its log. */
  readonly logLines: string[];
  get(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

/** The whole agent in this process, on free ports, with its own state folder. */
export async function startTestAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
  const folder: TemporaryFolder = await temporaryFolder();
  const environment: Record<string, string> = {
    CLUSTER_NAME: 'test-cluster',
    SVC_API_URL: options.platformUrl ?? 'http://127.0.0.1:1',
    SVC_TOKEN: 'svc_agt_token_of_the_test',
    SVC_CLUSTER_ID: 'cls-123abc',
    SVC_AGENT_HOST: '127.0.0.1',
    SVC_AGENT_PORT: '0',
    SVC_METRICS_PORT: '0',
    SVC_STATE_DIR: options.stateDir ?? folder.path,
    ...options.environment,
  };
  const logLines: string[] = [];
  const log = createLogger({
    level: 'debug',
    name: 'svc-agent',
    destination: { write: (line: string) => void logLines.push(line) },
  });
  const load = () => loadAgentConfig({ file: options.file ?? null, environment });
  const config = new LiveConfig(load().config, load, log);
  const agent = await startAgent({
    config,
    log,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    build: { version: '1.2.3', gitCommit: 'abc1234', buildDate: '2026-01-01T00:00:00.000Z' },
    pod: { host: undefined, port: undefined },
  });
  return {
    agent,
    config,
    environment,
    logLines,
    get: (path, init) => fetch(`http://127.0.0.1:${agent.httpPort}${path}`, init),
    stop: async () => {
      await agent.stop();
      await folder.remove();
    },
  };
}
