/** A workspace by itself, or everything that one user owns: the sum over that user's workspaces. */
export type QuotaScope = 'workspace' | 'owner';

export const QUOTA_SCOPES: readonly QuotaScope[] = ['workspace', 'owner'];

export type QuotaUnit = 'count' | 'cpus' | 'mib' | 'bytes' | 'per_second' | 'per_minute';

/** Null means unlimited. */
export type Limit = number | null;

/** Largest limit: sums of amounts below it stay exact. */
export const MAX_LIMIT = 2 ** 52;

/** `auto` follows from the machine or from other settings; the declaration says how. */
export type DefaultLimit = number | 'unlimited' | 'auto';

export interface QuotaDeclaration {
  /** For headings: `Stored bytes`. */
  readonly title: string;
  readonly unit: QuotaUnit;
  /** What is counted, as one sentence fragment without a period. */
  readonly description: string;
  /** Where the quota means nothing in the other scope. */
  readonly only?: QuotaScope;
  /** Defaults of the two scopes. */
  readonly workspace: DefaultLimit;
  readonly owner: DefaultLimit;
  /** What `auto` comes to. Required where a default is `auto`. */
  readonly auto?: string;
}

export interface Quota<Name extends string = string> extends QuotaDeclaration {
  readonly name: Name;
}

export type Quotas<Declarations> = { readonly [Name in keyof Declarations & string]: Quota<Name> };

/**
 * Declares the quotas of one module; the key is the name that API, configuration and CLI use.
 *
 *     const quotas = defineQuotas({ snapshots: { title: 'Snapshots', unit: 'count', description: 'Snapshots of sandboxes', workspace: 100, owner: 100 } });
 *     quotas.snapshots.name; // 'snapshots'
 */
export function defineQuotas<const Declarations extends Record<string, QuotaDeclaration>>(
  declarations: Declarations,
): Quotas<Declarations> {
  const named = Object.entries(declarations).map(([name, declaration]) => {
    if (!/^[a-z][a-z_]*$/.test(name)) throw new Error(`${name} is not a name of a quota`);
    const usesAuto = declaration.workspace === 'auto' || declaration.owner === 'auto';
    if (usesAuto && declaration.auto === undefined) throw new Error(`${name} does not say what auto means`);
    return [name, { ...declaration, name }] as const;
  });
  // The loop above makes exactly one quota for each key of the declarations.
  return Object.fromEntries(named) as unknown as Quotas<Declarations>;
}
