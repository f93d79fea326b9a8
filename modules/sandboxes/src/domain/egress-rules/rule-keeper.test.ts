import { createLogger } from '@svc/telemetry';
import { fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import type { SealedSecret } from '../secrets/secret.ts';
import type { LiveEgressRules } from './egress-rule.ts';
import { RuleKeeper, type RuleKeeperDeps } from './rule-keeper.ts';

const RULE = { host: 'a.example', header: 'x', query: null, secret: 'KEY', template: '{value}', insecure: false };
const SECRET: SealedSecret = {
  secret: { id: 'sec', workspaceUuid: 'w', name: 'KEY', version: 1, creatorId: 'c', createdAt: '', updatedAt: '' },
  sealed: { wrapper: 'test', text: 'value' },
};

/** One sandbox with one rule; `fault` makes the parts fail or hang. */
function keeper(fault: { database?: 'fails' | 'hangs'; sealer?: 'fails' } = {}) {
  const clock = fakeClock();
  const applied: (LiveEgressRules | null)[] = [];
  const answer = async <Value>(value: Value): Promise<Value> => {
    if (fault.database === 'hangs') await new Promise(() => undefined);
    if (fault.database === 'fails') throw new Error('the database is away');
    return value;
  };
  let version = 1;
  const current = () => [{ ...SECRET.secret, version }];
  const deps: Omit<RuleKeeperDeps, 'repository'> & { repository: unknown } = {
    repository: {
      find: () => answer({ id: 's', workspaceUuid: 'w', egressRules: [RULE] }),
      ofNodeWithRules: () => answer([{ id: 's' }]),
      rulesOf: () => answer(new Map([['s', [RULE]]])),
    },
    secrets: { sealed: () => answer([SECRET]), versions: () => answer(current()) },
    authorities: { ensure: () => answer({ cert: 'cert', key: 'key' }) },
    sealer: {
      wrap: async () => SECRET.sealed,
      unwrap: async ({ text }) => {
        if (fault.sealer === 'fails') throw new Error('the key service is away');
        return Buffer.from(text);
      },
    },
    driver: { applyRules: async (_id, live) => void applied.push(live) },
    node: 'n',
    clock,
    log: createLogger({ level: 'silent', name: 'test' }),
  };
  const rules = new RuleKeeper(deps as RuleKeeperDeps); // the repository's sandbox has what the keeper reads
  const contents = () => applied.map((live) => live?.rules[0]?.content);
  return { rules, clock, contents, fault, replace: () => (version += 1) };
}

it.each(['fails', 'hangs'] as const)(
  'withdraws the values while the database %s, and applies them again',
  async (how) => {
    const { rules, clock, contents, fault } = keeper();
    await rules.start();
    expect(contents()).toEqual(['value']);
    await clock.advance(1000);
    expect(contents()).toEqual(['value']);
    fault.database = how;
    await clock.advance(1000);
    expect(contents()).toEqual(['value']);
    await clock.advance(2500);
    expect(contents()).toEqual(['value', null]);
    delete fault.database;
    await clock.advance(2500);
    expect(contents()).toEqual(['value', null, 'value']);
    await rules.close();
  },
);

it('withdraws values that cannot be opened any more', async () => {
  const { rules, clock, contents, fault, replace } = keeper();
  await rules.start();
  fault.sealer = 'fails';
  await clock.advance(1000);
  expect(contents()).toEqual(['value']);
  replace();
  await clock.advance(1000);
  expect(contents()).toEqual(['value', null]);
  await rules.close();
});

it('applies the rules later if it cannot when the platform starts', async () => {
  const { rules, clock, contents, fault } = keeper({ sealer: 'fails' });
  await rules.start();
  expect(contents()).toEqual([]);
  delete fault.sealer;
  await clock.advance(600);
  expect(contents()).toEqual(['value']);
  await rules.close();
});
