import { nullable } from '@svc/http';
import { Type, type Static } from 'typebox';
import type { QuotaState } from '../domain/quotas/quota-book.ts';

export const quotaScopeSchema = Type.Union([Type.Literal('workspace'), Type.Literal('owner')]);

const limitSchema = nullable(Type.Number({ minimum: 0, description: 'Null: unlimited' }));

export const quotaStateSchema = Type.Object({
  name: Type.String({ description: 'Such as `sandboxes`' }),
  title: Type.String(),
  description: Type.String(),
  unit: Type.Union([
    Type.Literal('count'),
    Type.Literal('cpus'),
    Type.Literal('mib'),
    Type.Literal('bytes'),
    Type.Literal('per_second'),
    Type.Literal('per_minute'),
  ]),
  limit: limitSchema,
  used: nullable(Type.Number({ description: 'Null for rates and quotas that are not counted' })),
});

export function toQuotaStateView({ quota, limit, used }: QuotaState): Static<typeof quotaStateSchema> {
  const { name, title, description, unit } = quota;
  return { name, title, description, unit, limit, used };
}
