import { execFileSync } from 'node:child_process';
import { requirement, skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firewallRules, forwardingRules } from '../../src/adapters/drivers/local/firewall-rules.ts';

const reason = requirement('linux', 'root', 'command:nft', 'command:ip');
const title = 'firewall of a host';
const NAMESPACE = 'svc-test-firewall';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  const load = (rules: string): void =>
    void execFileSync('ip', ['netns', 'exec', NAMESPACE, 'nft', '-f', '-'], { input: rules });
  const ruleset = (): string =>
    execFileSync('ip', ['netns', 'exec', NAMESPACE, 'nft', 'list', 'ruleset'], { encoding: 'utf8' });
  const rulesOf = (group: number, nameserver: string): string =>
    firewallRules({
      table: `svc_sandboxes_${group}`,
      interfaces: { group },
      nameservers: [nameserver],
      range: '100.96.0.0/16',
    });

  beforeAll(() => void execFileSync('ip', ['netns', 'add', NAMESPACE]));
  afterAll(() => void execFileSync('ip', ['netns', 'del', NAMESPACE]));

  it('does not become a router when a platform starts again and finds forwarding enabled', () => {
    load(forwardingRules(['eth0', 'eth1']) + rulesOf(7, '10.0.0.53'));
    load(forwardingRules([]) + rulesOf(7, '10.0.0.54'));
    const found = ruleset();
    expect(found).toMatch(/iifname \{ "eth0", "eth1" \} oifname \{ "eth0", "eth1" \} drop/);
    expect(found).toContain('10.0.0.54');
    expect(found).not.toContain('10.0.0.53');
  });

  it('keeps the rules of each platform', () => {
    load(rulesOf(8, '10.0.0.55'));
    expect(ruleset()).toContain('10.0.0.54');
    expect(ruleset()).toContain('10.0.0.55');
  });
});
