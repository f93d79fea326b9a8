import type { Lifecycle } from '@svc/sdk';

/** A rule with every field there; what it does not say is null or empty. */
export type Rule = Lifecycle['rules'][number];
