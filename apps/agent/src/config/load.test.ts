import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '@svc/config';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { loadAgentConfig } from './load.ts';

/** The contract's example, without our own keys. */
const CONTRACT_FILE = `
agent:
  cluster_name: production
  namespace: svc-system
  labels:
    environment: production
svc:
  api_url: https://platform.example
  token: svc_agt_from_file
  timeout: 30s
tunnel:
  enabled: true
  forwards:
    - name: grafana
      local_addr: grafana.monitoring:3000
monitoring:
  enabled: true
  prometheus:
    enabled: true
`;

async function load(text: string, environment: Record<string, string> = {}) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'config.yaml');
  await writeFile(file, text);
  return loadAgentConfig({ file, environment }).config;
}

async function catchFaults(text: string, environment: Record<string, string> = {}): Promise<string[]> {
  try {
    await load(text, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ path }) => path);
    throw error;
  }
  return [];
}

describe('the configuration of the agent', () => {
  it("accepts the contract's example unchanged", async () => {
    const config = await load(CONTRACT_FILE);
    expect(config).toMatchObject({
      agent: { cluster_name: 'production', labels: { environment: 'production' } },
      svc: { api_url: 'https://platform.example', token: 'svc_agt_from_file', timeout: '30s' },
      tunnel: { enabled: true, forwards: [{ name: 'grafana', local_addr: 'grafana.monitoring:3000' }] },
      http: { port: 8080 },
      metrics: { port: 9091, path: '/metrics' },
    });
  });

  it('prefers each environment variable of the contract over the file', async () => {
    const config = await load(CONTRACT_FILE, {
      CLUSTER_NAME: 'staging',
      SVC_API_URL: 'https://other.example/base',
      LOG_LEVEL: 'debug',
      MONITORING_ENABLED: 'false',
      SVC_TOKEN: 'svc_agt_from_environment',
      SVC_CLUSTER_ID: 'cls-1',
    });
    expect(config).toMatchObject({
      agent: { cluster_name: 'staging' },
      svc: { api_url: 'https://other.example/base', token: 'svc_agt_from_environment', cluster_id: 'cls-1' },
      log: { level: 'debug' },
      monitoring: { enabled: false },
    });
  });

  it('does not require a file', () => {
    const environment = { CLUSTER_NAME: 'a', SVC_API_URL: 'https://b', SVC_TOKEN_FILE: '/run/token' };
    expect(loadAgentConfig({ file: null, environment }).config.svc).toMatchObject({ token_file: '/run/token' });
  });

  it('reports all faults together, including a missing token', async () => {
    const text =
      'agent: {cluster_name: "Not A Name", colour: blue}\nsvc: {timeout: soon, reconnect: {interval: 5}}\nhttp: {port: 70000}\n';
    expect((await catchFaults(text)).toSorted()).toEqual([
      'agent.cluster_name',
      'agent.colour',
      'http.port',
      'svc.api_url',
      'svc.reconnect.interval',
      'svc.timeout',
      'svc.token',
    ]);
  });

  it.each([
    ['svc: {api_url: "ftp://x"}', 'svc.api_url'],
    ['svc: {api_url: "https://user:secret@x"}', 'svc.api_url'],
    ['svc: {tls: {client_cert: /x}}', 'svc.tls.client_cert'],
    ['metrics: {port: 8080}', 'metrics.port'],
    ['svc: {timeout: 0s}', 'svc.timeout'],
    ['svc: {timeout: 26d}', 'svc.timeout'],
    ['svc: {reconnect: {interval: 10m, max_interval: 5s}}', 'svc.reconnect.max_interval'],
    ['deploy: {timeout: 99d}', 'deploy.timeout'],
    ['proxy: {https: "http://"}', 'proxy.https'],
    ['log: {level: loud}', 'log.level'],
    ['tunnel: {forwards: [{name: a, local_addr: nowhere}]}', 'tunnel.forwards.0.local_addr'],
    ['tunnel: {forwards: [{name: a, local_addr: "b:0"}]}', 'tunnel.forwards.0.local_addr'],
    ['tunnel: {forwards: [{name: a, local_addr: "b:1"}, {name: a, local_addr: "b:2"}]}', 'tunnel.forwards.1.name'],
    ['tunnel: {forwards: [{name: kubernetes, local_addr: "b:1"}]}', 'tunnel.forwards.0.name'],
    ['agent: {labels: {a: [1]}}', 'agent.labels.a'],
  ])('refuses %s', async (text, path) => {
    const environment = {
      CLUSTER_NAME: 'a',
      SVC_TOKEN: 'x',
      ...(text.includes('api_url') ? {} : { SVC_API_URL: 'https://b' }),
    };
    expect(await catchFaults(text, environment)).toEqual([path]);
  });

  it('prefers SVC_TOKEN over a token file named in YAML, and SVC_TOKEN_FILE over both', async () => {
    const text = 'agent: {cluster_name: a}\nsvc: {api_url: "https://b", token_file: /from/yaml}\n';
    const { svc } = await load(text, { SVC_TOKEN: 'x' });
    expect([svc.token, svc.token_file]).toEqual(['x', undefined]);
    expect((await load(text, { SVC_TOKEN_FILE: '/from/environment' })).svc.token_file).toBe('/from/environment');
  });

  it("never reveals a URL's password in a fault", async () => {
    await expect(load('svc: {api_url: "https://user:hunter2@x"}')).rejects.toSatisfy(
      (error: Error) => error.message.includes('svc.api_url') && !error.message.includes('hunter2'),
    );
  });

  it('never reveals the token in a fault', async () => {
    const text = CONTRACT_FILE.replace('svc_agt_from_file', '[svc_agt_secret]');
    await expect(load(text)).rejects.toSatisfy((error: Error) => !error.message.includes('svc_agt_secret'));
  });
});
