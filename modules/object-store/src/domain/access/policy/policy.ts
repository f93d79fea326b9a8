import type { Condition } from './conditions.ts';

/** A list of patterns, or everything except them (`NotAction`, `NotResource`). */
export interface PatternSet {
  readonly negated: boolean;
  readonly patterns: readonly string[];
}

export interface PrincipalSet {
  readonly negated: boolean;
  /** Anyone, signed in or not. */
  readonly everybody: boolean;
  readonly workspaces: ReadonlySet<string>;
  readonly accessKeys: ReadonlySet<string>;
}

export interface PolicyStatement {
  readonly effect: 'Allow' | 'Deny';
  readonly principals: PrincipalSet;
  /** Lower case, since S3 ignores case here. */
  readonly actions: PatternSet;
  readonly resources: PatternSet;
  readonly conditions: readonly Condition[];
}

export interface BucketPolicy {
  readonly statements: readonly PolicyStatement[];
  /** By AWS's definition: allows someone something without binding it to fixed values. */
  readonly isPublic: boolean;
  /** Whether evaluating it requires the object's tags. */
  readonly readsObjectTags: boolean;
}
