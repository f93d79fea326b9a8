import { createLogger } from '@svc/telemetry';
import { describe, expect, it } from 'vitest';
import { LiveConfig } from './live-config.ts';
import { loadAgentConfig } from './load.ts';
import { RELOADABLE_SECTIONS, type AgentConfig } from './schema.ts';

function liveConfig() {
  const environment: Record<string, string> = { CLUSTER_NAME: 'a', SVC_API_URL: 'https://b', SVC_TOKEN: 'one' };
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    name: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const load = () => loadAgentConfig({ file: null, environment });
  return { environment, lines, config: new LiveConfig(load().config, load, log) };
}

describe('a reload', () => {
  it('applies what can change, notifies listeners, and names what requires a restart', () => {
    const { environment, lines, config } = liveConfig();
    const heard: string[] = [];
    config.onChange(({ log }) => heard.push(log.level));
    Object.assign(environment, { SVC_TOKEN: 'two', LOG_LEVEL: 'debug', SVC_AGENT_PORT: '8181' });
    config.reload('SIGHUP');
    expect(config.current).toMatchObject({ svc: { token: 'two' }, log: { level: 'debug' }, http: { port: 8080 } });
    expect(heard).toEqual(['debug']);
    expect(lines.join('')).toContain('"keys":["http.port"]');
    expect(lines.join('')).not.toContain('two');
  });

  it('of an invalid configuration changes nothing and reports each fault', () => {
    const { environment, lines, config } = liveConfig();
    Object.assign(environment, { LOG_LEVEL: 'loud', SVC_AGENT_PORT: 'x', SVC_TOKEN: 'two' });
    config.reload('SIGHUP');
    expect(config.current).toMatchObject({ svc: { token: 'one' }, log: { level: 'info' } });
    expect(lines.join('')).toContain('log.level');
    expect(lines.join('')).toContain('http.port');
  });

  it('without a change notifies no listener', () => {
    const { config } = liveConfig();
    let heard = 0;
    config.onChange(() => (heard += 1));
    config.reload('the file changed');
    expect(heard).toBe(0);
  });

  it('removes a token that moved into a file', () => {
    const { environment, config } = liveConfig();
    delete environment['SVC_TOKEN'];
    environment['SVC_TOKEN_FILE'] = '/run/token';
    config.reload('SIGHUP');
    expect(config.current.svc.token).toBeUndefined();
    expect(config.current.svc.token_file).toBe('/run/token');
  });

  it('applies every section documented as reloadable, and no other', () => {
    const { config: initial } = loadAgentConfig({
      file: null,
      environment: { CLUSTER_NAME: 'a', SVC_API_URL: 'https://b', SVC_TOKEN: 'one' },
    });
    const changed: AgentConfig = {
      ...initial,
      agent: { ...initial.agent, labels: { tier: 'gold' }, cluster_name: 'other' },
      svc: {
        ...initial.svc,
        token: 'two',
        token_file: '/run/token',
        timeout: '3s',
        api_url: 'https://other',
        reconnect: { interval: '1s', max_interval: '2s' },
        tls: { insecure_skip_verify: true },
      },
      tunnel: {
        enabled: true,
        kubernetes: { enabled: false, identity: 'user', read_only_roles: [] },
        forwards: [{ name: 'grafana', local_addr: 'grafana:3000' }],
      },
      proxy: { no_proxy: '*' },
      log: { ...initial.log, level: 'debug' },
      deploy: { ...initial.deploy, drift: 'off' },
      policy: { ...initial.policy, exec: false },
      events: { ...initial.events, enabled: false },
      sandboxes: { ...initial.sandboxes, enabled: true },
    };
    const log = createLogger({ level: 'silent', name: 'test' });
    const config = new LiveConfig(initial, () => ({ config: changed, warnings: [] }), log);
    config.reload('SIGHUP');
    for (const section of RELOADABLE_SECTIONS) {
      expect(valueAt(initial, section), section).not.toEqual(valueAt(changed, section)); // the case covers each section
      expect(valueAt(config.current, section), section).toEqual(valueAt(changed, section));
    }
    expect(config.current).toMatchObject({
      agent: { cluster_name: 'a' },
      svc: { api_url: 'https://b' },
      tunnel: { enabled: false },
      events: { enabled: true },
    });
  });
});

function valueAt(config: AgentConfig, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], config);
}
