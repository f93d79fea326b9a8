import { describe, expect, it } from 'vitest';
import { breachDetails, findBreach } from './breach.ts';
import { createQuotaCatalogue, defaultLimits } from './catalogue.ts';
import { quotasConfigSchema } from './config-schema.ts';
import type { Limits } from './limits.ts';
import { defineQuotas } from './quota.ts';

const quotas = defineQuotas({
  boxes: { title: 'Boxes', unit: 'count', description: 'Boxes', workspace: 3, owner: 5 },
  space: {
    title: 'Space',
    unit: 'mib',
    description: 'Space of boxes',
    workspace: 'unlimited',
    owner: 'auto',
    auto: 'the shelf',
  },
});

function limits(workspace: Limits['workspace'], owner: Limits['owner']): Limits {
  return { workspaceUuid: 'w', ownerId: 'o', ownerWorkspaces: ['v', 'w'], workspace, owner };
}

describe('findBreach', () => {
  it('lets a demand take the last place and no more', () => {
    const held = limits({ boxes: 3 }, {});
    expect(findBreach(held, [[quotas.boxes, 1]], { workspace: { boxes: 2 }, owner: {} })).toBeNull();
    expect(findBreach(held, [[quotas.boxes, 2]], { workspace: { boxes: 2 }, owner: {} })).toEqual({
      quota: quotas.boxes,
      scope: 'workspace',
      limit: 3,
      used: 2,
      wanted: 2,
    });
  });

  it('compares the sum over the owner’s workspaces with the owner’s limit', () => {
    const held = limits({ boxes: null }, { boxes: 5 });
    const breach = findBreach(held, [[quotas.boxes, 1]], { workspace: { boxes: 1 }, owner: { boxes: 5 } });
    expect(breach).toMatchObject({ scope: 'owner', limit: 5, used: 5 });
  });

  it('treats null and a missing limit as unlimited', () => {
    const used = { workspace: { boxes: 1e9 }, owner: { boxes: 1e9 } };
    expect(findBreach(limits({ boxes: null }, {}), [[quotas.boxes, 1]], used)).toBeNull();
  });

  it('lets usage over its limit shrink or stay', () => {
    const used = { workspace: { boxes: 9 }, owner: {} };
    expect(findBreach(limits({ boxes: 3 }, {}), [[quotas.boxes, 0]], used)).toBeNull();
  });

  it('reports in the details which limit is exceeded and who can raise it', () => {
    const breach = { quota: quotas.boxes, scope: 'owner', limit: 5, used: 4, wanted: 2 } as const;
    expect(breachDetails(breach)).toMatchObject({
      quota: 'boxes',
      scope: 'owner',
      limit: 5,
      current: 4,
      requested: 2,
      remedy: expect.stringContaining('svc admin quota set'),
    });
  });
});

describe('the quota catalogue', () => {
  const catalogue = createQuotaCatalogue([quotas]);

  it('rejects a name that two modules declare', () => {
    expect(() => createQuotaCatalogue([quotas, quotas])).toThrow('boxes is declared twice');
  });

  it('derives the configuration from the declarations', () => {
    const { properties } = quotasConfigSchema(catalogue);
    expect(properties.owner.properties['space']).toMatchObject({
      default: 'auto',
      description: expect.stringContaining('auto: the shelf'),
    });
  });

  it('resolves defaults: numbers, unlimited and auto', () => {
    const config = { workspace: { boxes: 7 }, owner: {} };
    expect(defaultLimits(catalogue, config, () => 64)).toEqual({
      workspace: { boxes: 7, space: null },
      owner: { boxes: 5, space: 64 },
    });
  });

  it('rejects auto without a description', () => {
    const config = { workspace: { boxes: 'auto' as const }, owner: {} };
    expect(() => defaultLimits(catalogue, config, () => 1)).toThrow('quotas.workspace.boxes cannot be auto');
  });
});
