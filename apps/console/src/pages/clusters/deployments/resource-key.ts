import type { ResourceResult } from '@svc/sdk';

/** Identifies an object of a cluster. */
export function keyOf({ api_version: version, kind, namespace, name }: ResourceResult): string {
  return `${version} ${kind} ${namespace} ${name}`;
}
