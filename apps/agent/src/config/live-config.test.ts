import { createLogger } from '@svc/telemetry';
import { describe, expect, it } from 'vitest';
import { LiveConfig } from './live-config.ts';
import { loadAgentConfig } from './load.ts';

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
  it('takes on what can change, tells listeners, and names what waits for a restart', () => {
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

  it('of a faulty configuration changes nothing and reports each fault', () => {
    const { environment, lines, config } = liveConfig();
    Object.assign(environment, { LOG_LEVEL: 'loud', SVC_AGENT_PORT: 'x', SVC_TOKEN: 'two' });
    config.reload('SIGHUP');
    expect(config.current).toMatchObject({ svc: { token: 'one' }, log: { level: 'info' } });
    expect(lines.join('')).toContain('log.level');
    expect(lines.join('')).toContain('http.port');
  });

  it('without a change tells nobody', () => {
    const { config } = liveConfig();
    let heard = 0;
    config.onChange(() => (heard += 1));
    config.reload('the file changed');
    expect(heard).toBe(0);
  });

  it('takes a token away that moved into a file', () => {
    const { environment, config } = liveConfig();
    delete environment['SVC_TOKEN'];
    environment['SVC_TOKEN_FILE'] = '/run/token';
    config.reload('SIGHUP');
    expect(config.current.svc.token).toBeUndefined();
    expect(config.current.svc.token_file).toBe('/run/token');
  });
});
