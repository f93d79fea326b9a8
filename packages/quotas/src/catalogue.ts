import { type Static, type TObject, Type } from 'typebox';
import { MAX_LIMIT, type DefaultLimit, type Limit, type Quota, type QuotaScope } from './quota.ts';

/** Every quota of the product, in display order. */
export interface QuotaCatalogue {
  readonly all: readonly Quota[];
  find(name: string): Quota | undefined;
}

/** Throws if two modules declare the same name. */
export function createQuotaCatalogue(groups: readonly Readonly<Record<string, Quota>>[]): QuotaCatalogue {
  const byName = new Map<string, Quota>();
  for (const quota of groups.flatMap((group) => Object.values(group))) {
    if (byName.has(quota.name)) throw new Error(`the quota ${quota.name} is declared twice`);
    byName.set(quota.name, quota);
  }
  return { all: [...byName.values()], find: (name) => byName.get(name) };
}

const amountSchema = Type.Union([
  Type.Number({ minimum: 0, maximum: MAX_LIMIT }),
  Type.Literal('unlimited'),
  Type.Literal('auto'),
]);

type ScopeSchema = TObject<Record<string, typeof amountSchema>>;
type QuotasSchema = TObject<Record<QuotaScope, ScopeSchema>>;

export type QuotasConfig = Static<QuotasSchema>;

/** Schema of the configuration section `quotas`: defaults for workspaces and owners without their own limits. */
export function quotasConfigSchema({ all }: QuotaCatalogue): QuotasSchema {
  return Type.Object({ workspace: scopeSchema('workspace', all), owner: scopeSchema('owner', all) });
}

function scopeSchema(scope: QuotaScope, all: readonly Quota[]): ScopeSchema {
  const holder = scope === 'workspace' ? 'of one workspace' : 'of all workspaces of one owner together';
  const meant = all.filter(({ only }) => only === undefined || only === scope);
  return Type.Object(Object.fromEntries(meant.map((quota) => [quota.name, limitSchema(quota, quota[scope], holder)])));
}

function limitSchema(quota: Quota, value: DefaultLimit, holder: string): typeof amountSchema {
  const auto = quota.auto === undefined ? '' : `; auto: ${quota.auto}`;
  const description = `${quota.description}, ${holder}; a number or unlimited${auto}`;
  return Type.Union(amountSchema.anyOf, { default: value, description });
}

/** Returns the limits that apply unless the operator sets others. `auto` computes a quota's limit from the machine. */
export function defaultLimits(
  { all }: QuotaCatalogue,
  config: QuotasConfig,
  auto: (quota: Quota, scope: QuotaScope) => Limit,
): Record<QuotaScope, Record<string, Limit>> {
  const resolve = (quota: Quota, scope: QuotaScope): Limit => {
    const value = config[scope][quota.name] ?? quota[scope];
    if (value === 'unlimited') return null;
    if (value !== 'auto') return value;
    if (quota.auto !== undefined) return auto(quota, scope);
    throw new Error(`quotas.${scope}.${quota.name} cannot be auto`);
  };
  const limitsIn = (scope: QuotaScope) => Object.fromEntries(all.map((quota) => [quota.name, resolve(quota, scope)]));
  return { workspace: limitsIn('workspace'), owner: limitsIn('owner') };
}
