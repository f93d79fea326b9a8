import { type Static, type TObject, Type } from 'typebox';
import { MAX_LIMIT, type DefaultLimit, type Quota, type QuotaScope } from './quota.ts';

const amountSchema = Type.Union([
  Type.Number({ minimum: 0, maximum: MAX_LIMIT }),
  Type.Literal('unlimited'),
  Type.Literal('auto'),
]);

type ScopeSchema = TObject<Record<string, typeof amountSchema>>;
type QuotasSchema = TObject<Record<QuotaScope, ScopeSchema>>;

/** The parsed configuration section `quotas`. */
export type QuotasConfig = Static<QuotasSchema>;

/** The configuration section `quotas`: defaults of all workspaces and owners that the operator set nothing for. */
export function quotasConfigSchema({ all }: { readonly all: readonly Quota[] }): QuotasSchema {
  return Type.Object({ workspace: scopeSchema('workspace', all), owner: scopeSchema('owner', all) });
}

function scopeSchema(scope: QuotaScope, all: readonly Quota[]): ScopeSchema {
  const holder = scope === 'workspace' ? 'per workspace' : 'per owner across all workspaces';
  const meant = all.filter(({ only }) => only === undefined || only === scope);
  return Type.Object(Object.fromEntries(meant.map((quota) => [quota.name, limitSchema(quota, quota[scope], holder)])));
}

function limitSchema(quota: Quota, value: DefaultLimit, holder: string): typeof amountSchema {
  const auto = quota.auto === undefined ? '' : `; auto: ${quota.auto}`;
  const description = `${quota.description}, ${holder}; a number or unlimited${auto}`;
  return Type.Union(amountSchema.anyOf, { default: value, description });
}
