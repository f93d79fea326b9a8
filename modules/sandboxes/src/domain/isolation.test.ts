import { describe, expect, it } from 'vitest';
import type { Isolation } from './driver.ts';
import { IsolationPolicy, type IsolationSetting } from './isolation.ts';

const having = (...isolations: Isolation[]) => ({ supports: (each: Isolation) => isolations.includes(each) });

describe('the isolation of sandboxes', () => {
  it.each<[IsolationSetting, boolean, Isolation, Isolation[]]>([
    ['auto', true, 'gvisor', ['namespaces', 'gvisor']],
    ['auto', false, 'namespaces', ['namespaces']],
    ['namespaces', true, 'namespaces', ['namespaces', 'gvisor']],
    ['namespaces', false, 'namespaces', ['namespaces']],
    ['gvisor', true, 'gvisor', ['gvisor']],
    ['gvisor', false, 'gvisor', []], // never less than the operator demands
  ])('is by %s, with gVisor %s: %s, and may be %j', (setting, hasGvisor, usual, allowed) => {
    const driver = hasGvisor ? having('namespaces', 'gvisor') : having('namespaces');
    const policy = new IsolationPolicy(setting, driver);
    expect(policy.choose('default')).toBe(usual);
    expect(policy.allowed()).toEqual(allowed);
    for (const each of ['namespaces', 'gvisor'] as const) {
      expect(policy.choose(each)).toBe(each);
      expect(policy.allows(each)).toBe(allowed.includes(each));
    }
  });

  it('is found out anew each time, since a driver opens later and may be opened again', () => {
    const isolations: Isolation[] = ['namespaces'];
    const policy = new IsolationPolicy('auto', { supports: (each) => isolations.includes(each) });
    expect(policy.default).toBe('namespaces');
    isolations.push('gvisor');
    expect(policy.default).toBe('gvisor');
  });
});
