import type { Condition } from './conditions.ts';

/** A list of patterns, or everything but it (`NotAction`, `NotResource`). */
export interface PatternSet {
  readonly negated: boolean;
  readonly patterns: readonly string[];
}

export interface PrincipalSet {
  readonly negated: boolean;
  /** Anybody, signed in or not. */
  readonly everybody: boolean;
  readonly workspaces: ReadonlySet<string>;
  readonly accessKeys: ReadonlySet<string>;
}

export interface PolicyStatement {
  readonly effect: 'Allow' | 'Deny';
  readonly principals: PrincipalSet;
  /** In lower case: S3 does not mind. */
  readonly actions: PatternSet;
  readonly resources: PatternSet;
  readonly conditions: readonly Condition[];
}

export interface BucketPolicy {
  readonly statements: readonly PolicyStatement[];
  /** By AWS's definition: allows somebody something that is not bound to fixed values. */
  readonly isPublic: boolean;
  /** Whether it can be judged without the tags of the object. */
  readonly readsObjectTags: boolean;
}
