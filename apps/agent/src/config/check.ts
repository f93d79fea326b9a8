import { parseDurationMs } from '@svc/config';
import { SANDBOXES_SERVICE } from '@svc/protocol';
import type { AgentConfig } from './schema.ts';

interface Fault {
  path: string;
  message: string;
}

export const TOKEN_FAULT: Fault = {
  path: 'svc.token',
  message: 'is required; set it in the file, by SVC_TOKEN or by svc.token_file',
};

/** Rules that span several keys, and those that a schema cannot express. */
export function checkTogether(config: AgentConfig): Fault[] {
  const faults: Fault[] = [];
  const { token, token_file: tokenFile, tls, api_url: apiUrl } = config.svc;
  if (token === undefined && tokenFile === undefined) {
    faults.push(TOKEN_FAULT);
  }
  if ((tls.client_cert === undefined) !== (tls.client_key === undefined)) {
    faults.push({ path: 'svc.tls.client_cert', message: 'and svc.tls.client_key belong together' });
  }
  if (URL.parse(apiUrl) === null) faults.push({ path: 'svc.api_url', message: 'must be a URL' });
  if (config.metrics.enabled && config.metrics.port !== 0 && config.metrics.port === config.http.port) {
    faults.push({ path: 'metrics.port', message: 'must differ from http.port, which serves metrics as well' });
  }
  if (config.proxy.https !== undefined && URL.parse(config.proxy.https) === null) {
    faults.push({ path: 'proxy.https', message: 'must be a URL' });
  }
  if (config.sandboxes.enabled && config.sandboxes.helper_image === undefined) {
    faults.push({ path: 'sandboxes.helper_image', message: 'is required while sandboxes are enabled' });
  }
  if (config.sandboxes.enabled && !config.tunnel.enabled) {
    faults.push({ path: 'sandboxes.enabled', message: 'requires tunnel.enabled' });
  }
  faults.push(...durationFaults(config), ...forwardFaults(config));
  return faults;
}

function forwardFaults(config: AgentConfig): Fault[] {
  const faults: Fault[] = [];
  const names = new Set<string>();
  for (const [index, { name, local_addr: address }] of config.tunnel.forwards.entries()) {
    const path = `tunnel.forwards.${index}`;
    if (names.has(name)) faults.push({ path: `${path}.name`, message: `is there twice: ${name}` });
    if (name === 'kubernetes') faults.push({ path: `${path}.name`, message: 'is reserved for the Kubernetes API' });
    if (name === SANDBOXES_SERVICE) faults.push({ path: `${path}.name`, message: 'is reserved for sandboxes' });
    names.add(name);
    const portText = address.slice(address.lastIndexOf(':') + 1);
    if (Number(portText) < 1 || Number(portText) > 65_535) {
      faults.push({ path: `${path}.local_addr`, message: 'must end with a port from 1 to 65535' });
    }
  }
  return faults;
}

/** Longer durations would overflow Node's timers, which then fire immediately. */
function durationFaults({ svc, deploy }: AgentConfig): Fault[] {
  const { interval, max_interval: maxInterval } = svc.reconnect;
  const faults = [
    ...outside('svc.timeout', svc.timeout, '10ms', '1h'),
    ...outside('svc.reconnect.interval', interval, '50ms', '1h'),
    ...outside('svc.reconnect.max_interval', maxInterval, '100ms', '1h'),
    ...outside('deploy.timeout', deploy.timeout, '10ms', '24h'),
  ];
  if (faults.length === 0 && parseDurationMs(maxInterval) < parseDurationMs(interval)) {
    const message = `must not be shorter than svc.reconnect.interval, which is ${interval}`;
    faults.push({ path: 'svc.reconnect.max_interval', message });
  }
  return faults;
}

function outside(path: string, text: string, least: string, most: string): Fault[] {
  const durationMs = parseDurationMs(text);
  if (durationMs >= parseDurationMs(least) && durationMs <= parseDurationMs(most)) return [];
  return [{ path, message: `must be from ${least} to ${most} but is ${text}` }];
}
