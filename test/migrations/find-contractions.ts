import type { CheckSchema, ColumnSchema, ForeignKeySchema, Schema, TableSchema, UniqueSchema } from './schema.ts';

/**
 * Lists what an earlier version would not survive in a change of the schema (decision 0048): what it reads, what its
 * inserts leave out, what its writes and deletions meet. Empty if the change only expands.
 */
export function findContractions(before: Schema, after: Schema): string[] {
  const changed = [...before].flatMap(([name, table]) => {
    const next = after.get(name);
    return next === undefined ? [`drops or renames ${name}`] : compareTables(name, table, next);
  });
  const added = [...after].filter(([name]) => !before.has(name));
  const holding = added.flatMap(([name, { foreignKeys }]) =>
    foreignKeys
      .filter(({ target, letsTargetGo }) => before.has(target) && !letsTargetGo)
      .map(({ target }) => `keeps rows of ${target} from being deleted by the new table ${name}`),
  );
  return [...changed, ...holding];
}

function compareTables(name: string, before: TableSchema, after: TableSchema): string[] {
  const found = [...before.columns].flatMap(([column, old]) =>
    compareColumns(`${name}.${column}`, old, after.columns.get(column)),
  );
  for (const [column, { isNullable, defaultValue }] of after.columns) {
    if (before.columns.has(column) || isNullable || defaultValue !== null) continue;
    found.push(`adds ${name}.${column}, which is required and has no default`);
  }
  for (const unique of missingIn(before.uniques, after.uniques)) {
    found.push(`drops the unique ${describe(name, unique)}, which an upsert may name`);
  }
  // Null satisfies every constraint, and earlier versions leave new columns at their default.
  const isFree = (column: string): boolean => {
    const added = before.columns.has(column) ? undefined : after.columns.get(column);
    return added !== undefined && added.isNullable && added.defaultValue === null;
  };
  const restricting = <Each extends { readonly columns: readonly string[] }>(
    was: readonly Each[],
    is: readonly Each[],
  ): Each[] => missingIn(is, was).filter(({ columns }) => !columns.some(isFree));
  found.push(
    ...restricting<UniqueSchema>(before.uniques, after.uniques).map(
      (unique) => `makes ${describe(name, unique)} unique`,
    ),
    ...restricting<ForeignKeySchema>(before.foreignKeys, after.foreignKeys).map(
      (key) => `binds ${describe(name, key)} to ${key.target}`,
    ),
    ...restricting<CheckSchema>(before.checks, after.checks).map(({ definition }) => `checks ${name}: ${definition}`),
    ...missingIn(after.triggers, before.triggers).map((trigger) => `adds the trigger ${trigger} to ${name}`),
  );
  return found;
}

function compareColumns(name: string, before: ColumnSchema, after: ColumnSchema | undefined): string[] {
  if (after === undefined) return [`drops or renames ${name}`];
  const found: string[] = [];
  if (before.type !== after.type) found.push(`changes the type of ${name} from ${before.type} to ${after.type}`);
  if (before.defaultValue !== after.defaultValue) found.push(`changes the default of ${name}`);
  if (before.isNullable && !after.isNullable) found.push(`requires ${name}`);
  if (!before.isNullable && after.isNullable) found.push(`lets ${name} be null`);
  return found;
}

function describe(table: string, { columns }: { readonly columns: readonly string[] }): string {
  return `${table} (${columns.join(', ')})`;
}

/** What the first list has and the second does not. */
function missingIn<Each>(list: readonly Each[], other: readonly Each[]): Each[] {
  const known = new Set(other.map((each) => JSON.stringify(each)));
  return list.filter((each) => !known.has(JSON.stringify(each)));
}
