import type { Lifecycle } from '@svc/sdk';

/** A rule with every field present; unset ones are null or empty. */
export type Rule = Lifecycle['rules'][number];
