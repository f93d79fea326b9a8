/** A column, as an earlier version sees it. */
export interface ColumnSchema {
  readonly type: string;
  readonly isNullable: boolean;
  /** Its expression in SQL; null if there is none. */
  readonly defaultValue: string | null;
}

/** A unique index or constraint, or a primary key. */
export interface UniqueSchema {
  /** Empty for an index on expressions. */
  readonly columns: readonly string[];
  /** Whether it covers only some rows. */
  readonly isPartial: boolean;
}

/** A reference to another table. */
export interface ForeignKeySchema {
  readonly columns: readonly string[];
  readonly target: string;
  /** Whether the rows of a deleted target are deleted or set to null, instead of refusing the deletion. */
  readonly letsTargetGo: boolean;
}

/** A constraint on the values of a row. */
export interface CheckSchema {
  readonly columns: readonly string[];
  readonly definition: string;
}

export interface TableSchema {
  readonly columns: ReadonlyMap<string, ColumnSchema>;
  readonly uniques: readonly UniqueSchema[];
  readonly foreignKeys: readonly ForeignKeySchema[];
  readonly checks: readonly CheckSchema[];
  readonly triggers: readonly string[];
}

/** Tables by name, with views among them. */
export type Schema = ReadonlyMap<string, TableSchema>;
