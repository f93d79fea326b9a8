/** One workspace, or everything a user owns: the sum over that user's workspaces. */
export type QuotaScope = 'workspace' | 'owner';

/** All scopes, in the order in which limits are checked. */
export const QUOTA_SCOPES: readonly QuotaScope[] = ['workspace', 'owner'];

/** What a quota's amounts count. */
export type QuotaUnit = 'count' | 'cpus' | 'mib' | 'bytes' | 'per_second' | 'per_minute';

/** Null means unlimited. */
export type Limit = number | null;

/** Maximum limit: sums of smaller amounts stay exact. */
export const MAX_LIMIT = 2 ** 52;

/** `auto` derives from the machine or other settings, as described in the declaration. */
export type DefaultLimit = number | 'unlimited' | 'auto';

/** The declaration of a quota. */
export interface QuotaDeclaration {
  /** Heading: `Stored bytes`. */
  readonly title: string;
  readonly unit: QuotaUnit;
  /** What the quota counts, as a phrase without a period. */
  readonly description: string;
  /** Set if the quota applies to one scope only. */
  readonly only?: QuotaScope;
  /** Defaults of the two scopes. */
  readonly workspace: DefaultLimit;
  readonly owner: DefaultLimit;
  /** Describes the value of `auto`. Required if a default is `auto`. */
  readonly auto?: string;
}

/** A declared quota with its name. */
export interface Quota<Name extends string = string> extends QuotaDeclaration {
  readonly name: Name;
}

/** The declared quotas of a module, by name. */
export type Quotas<Declarations> = { readonly [Name in keyof Declarations & string]: Quota<Name> };

/**
 * Declares the quotas of one module. The key is the name in API, configuration and CLI.
 *
 * ```ts
 * const quotas = defineQuotas({
 *   snapshots: { title: 'Snapshots', unit: 'count', description: 'Stored snapshots', workspace: 100, owner: 100 },
 * });
 * quotas.snapshots.name; // 'snapshots'
 * ```
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
  // The loop above creates exactly one quota per declaration.
  return Object.fromEntries(named) as unknown as Quotas<Declarations>;
}
