import { describe, expect, it } from 'vitest';
import type { Isolation } from './driver.ts';
import { IsolationPolicy, type IsolationSetting } from './isolation.ts';

const having = (...isolations: Isolation[]) => ({
  whyUnsupported: (each: Isolation) => (isolations.includes(each) ? null : `${each} is missing`),
});

describe('the isolation of sandboxes', () => {
  it.each<[IsolationSetting, boolean, Isolation, Isolation[]]>([
    ['auto', true, 'gvisor', ['namespaces', 'gvisor']],
    ['auto', false, 'namespaces', ['namespaces']],
    ['namespaces', true, 'namespaces', ['namespaces', 'gvisor']],
    ['namespaces', false, 'namespaces', ['namespaces']],
    ['gvisor', true, 'gvisor', ['gvisor']],
    ['gvisor', false, 'gvisor', []], // never weaker than the operator requires
  ])('with setting %s and gVisor %s defaults to %s and allows %j', (setting, hasGvisor, usual, allowed) => {
    const driver = hasGvisor ? having('namespaces', 'gvisor') : having('namespaces');
    const policy = new IsolationPolicy(setting, driver);
    expect(policy.choose('default')).toBe(usual);
    expect(policy.allowed()).toEqual(allowed);
    for (const each of ['namespaces', 'gvisor'] as const) {
      expect(policy.choose(each)).toBe(each);
      expect(policy.refusal(each) === null).toBe(allowed.includes(each));
    }
  });

  it.each<[IsolationSetting, boolean, string | null]>([
    ['auto', true, null],
    ['gvisor', true, null],
    ['auto', false, 'gvisor is missing'],
    ['gvisor', false, 'gvisor is missing'],
    ['namespaces', true, 'sandboxes.isolation is namespaces'],
    ['namespaces', false, 'sandboxes.isolation is namespaces'],
  ])('with setting %s and gVisor %s gives this reason for not using gVisor: %s', (setting, hasGvisor, reason) => {
    const driver = hasGvisor ? having('namespaces', 'gvisor') : having('namespaces');
    expect(new IsolationPolicy(setting, driver).reason).toBe(reason);
  });

  it('is refused with the reason', () => {
    expect(new IsolationPolicy('auto', having('namespaces')).refusal('gvisor')).toBe('gvisor is missing');
    expect(new IsolationPolicy('gvisor', having('namespaces', 'gvisor')).refusal('namespaces')).toContain('operator');
  });

  it('is evaluated on every call, because a driver opens later and may reopen', () => {
    const isolations: Isolation[] = ['namespaces'];
    const policy = new IsolationPolicy('auto', {
      whyUnsupported: (each) => (isolations.includes(each) ? null : 'not yet'),
    });
    expect(policy.default).toBe('namespaces');
    isolations.push('gvisor');
    expect(policy.default).toBe('gvisor');
  });
});
