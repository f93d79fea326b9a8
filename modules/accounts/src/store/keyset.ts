import { type ExpressionBuilder, type ExpressionWrapper, type ReferenceExpression, type SqlBool } from 'kysely';
import type { Position } from '../domain/paging.ts';

/**
 * Rows after a position ordered by (time, id). Spelled out, because the two databases compare row values differently.
 * Without a position, all rows match.
 */
export function isAfter<Tables, Table extends keyof Tables>(
  expression: ExpressionBuilder<Tables, Table>,
  timeColumn: ReferenceExpression<Tables, Table>,
  idColumn: ReferenceExpression<Tables, Table>,
  after: Position | null,
): ExpressionWrapper<Tables, Table, SqlBool> {
  if (after === null) return expression.and([]);
  const { createdAt, id } = after;
  return expression.or([
    expression(timeColumn, '>', expression.val(createdAt)),
    expression.and([
      expression(timeColumn, '=', expression.val(createdAt)),
      expression(idColumn, '>', expression.val(id)),
    ]),
  ]);
}
